"""The server itself: discovery, rights, credentials, recording, odd HTTP, many at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.talk import Talk, deployment, refusal
from tests.server import User

if TYPE_CHECKING:
    from tests.contract.talk import Both

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def review(server: Both, user: User, **attributes: str) -> bool:
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    answer = server.call("POST", REVIEWS, kind | {"spec": {"resourceAttributes": attributes}}, user=user)
    assert answer.status == 201, answer.body
    return bool(answer.body["status"]["allowed"])


def test_takaras_are_discovered(server: Both) -> None:
    groups = server.call("GET", "/apis").body
    (found,) = [group for group in groups["groups"] if group["name"] == "maho.takara.org"]
    assert found["preferredVersion"] == {"groupVersion": "maho.takara.org/v1alpha1", "version": "v1alpha1"}
    one = server.call("GET", "/apis/maho.takara.org").body
    assert (one["kind"], one["name"]) == ("APIGroup", "maho.takara.org")
    listed = server.call("GET", "/apis/maho.takara.org/v1alpha1").body["resources"]
    main, scale, _ = sorted(listed, key=lambda one: str(one["name"]))
    assert {one["name"] for one in listed} == {"takaras", "takaras/status", "takaras/scale"}
    assert (main["kind"], main["namespaced"], main["shortNames"]) == ("Takara", True, ["tk"])
    assert {"get", "list", "create", "update", "patch", "delete"} <= set(main["verbs"])
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")


def test_an_admin_may_and_nobody_else(server: Both) -> None:
    asked = {"group": "maho.takara.org", "resource": "takaras", "verb": "list"}
    assert review(server, server.user(), **asked)
    assert not review(server, server.user(admin=False), **asked)


def test_a_user_without_rights_is_403_with_verb_resource_and_namespace(talk: Talk) -> None:
    user = talk.server.user(admin=False)
    answer = talk.server.call("GET", talk.path("takaras"), user=user)
    assert refusal(answer) == (403, "Forbidden", [])
    assert answer.body["message"] == (
        f'takaras.maho.takara.org is forbidden: User "{user.name}" cannot list resource "takaras" in API '
        f'group "maho.takara.org" in the namespace "{talk.namespace}"'
    )
    answer = talk.server.call("PATCH", talk.path("takaras", "one", "status"), {}, user=user)
    assert answer.body["message"].startswith('takaras.maho.takara.org "one" is forbidden: ')
    assert 'cannot patch resource "takaras/status"' in answer.body["message"]
    answer = talk.server.call("GET", "/apis/apps/v1/deployments", user=user)
    assert answer.body["message"].endswith("at the cluster scope")


def test_a_wrong_token_is_401(server: Both) -> None:
    stranger = User("stranger", "nonsense", server.folder / "none")
    answer = server.call("GET", "/api/v1/namespaces", user=stranger)
    assert refusal(answer) == (401, "Unauthorized", [])


def test_of_parallel_creates_one_wins(talk: Talk) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: talk.apply(deployment(resourceVersion="1")).status, range(8)))
    assert sorted(answers) == [201, *[409] * 7]


ODD: list[tuple[str, str, Any, str]] = [
    ("PATCH", "/apis/apps/v1/namespaces/default/deployments", {}, "application/merge-patch+json"),
    ("POST", "/apis/apps/v1/namespaces/default/deployments/one", {}, "application/json"),
    ("POST", "/apis/apps/v1/deployments", {}, "application/json"),
    ("PUT", "/apis/apps/v1/namespaces/default/deployments/one/nothing", {}, "application/json"),
    ("PATCH", "/apis/apps/v1/namespaces/default/deployments/one", "\xff", "application/json-patch+json"),
    ("POST", "/apis/apps/v1/namespaces/default/deployments", {"metadata": []}, "application/json"),
    ("POST", "/apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": 5}}, "application/json"),
    ("POST", "/apis/apps/v1/namespaces/default/deployments", {"spec": "x"}, "application/json"),
    ("POST", REVIEWS, "{", "application/json"),
    ("GET", "/apis/apps/v1/namespaces/default/deployments/%00", None, "application/json"),
]


@pytest.mark.parametrize(("method", "path", "body", "content_type"), ODD)
def test_odd_requests_are_refused_with_4xx(server: Both, method: str, path: str, body: Any, content_type: str) -> None:
    answer = server.call(method, path, body, content_type=content_type)
    assert 400 <= answer.status < 500, answer.body
