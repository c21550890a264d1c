"""The server itself: discovery, rights, credentials, recording, odd HTTP, many at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.talk import Talk, deployment, generation, refusal, takara
from tests.server import User

if TYPE_CHECKING:
    from tests.contract.talk import Both

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def review(server: Both, user: User, **attributes: str) -> bool:
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = server.call("POST", REVIEWS, body, user=user)
    assert answer.status == 201, answer.body
    allowed: bool = answer.body["status"]["allowed"]
    return allowed


def test_the_version(server: Both) -> None:
    found = server.call("GET", "/version").body
    assert (found["major"], found["minor"]) == ("1", "36")
    assert found["gitVersion"].startswith("v1.36.")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health(server: Both, path: str) -> None:
    answer = server.call("GET", path)
    assert (answer.status, answer.body) == (200, "ok")


def test_the_group_of_takaras_is_discovered(server: Both) -> None:
    groups = server.call("GET", "/apis").body
    (found,) = [group for group in groups["groups"] if group["name"] == "maho.takara.org"]
    assert found["preferredVersion"] == {"groupVersion": "maho.takara.org/v1alpha1", "version": "v1alpha1"}
    one = server.call("GET", "/apis/maho.takara.org").body
    assert (one["kind"], one["name"]) == ("APIGroup", "maho.takara.org")


def test_the_resources_of_takaras_are_discovered(server: Both) -> None:
    found = server.call("GET", "/apis/maho.takara.org/v1alpha1").body
    resources = {one["name"]: one for one in found["resources"]}
    assert set(resources) == {"takaras", "takaras/status", "takaras/scale"}
    main = resources["takaras"]
    assert (main["kind"], main["namespaced"], main["shortNames"]) == ("Takara", True, ["tk"])
    assert {"get", "list", "create", "update", "patch", "delete"} <= set(main["verbs"])
    scale = resources["takaras/scale"]
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")


def test_the_core_group_is_discovered(server: Both) -> None:
    assert server.call("GET", "/api").body["versions"] == ["v1"]
    names = {one["name"] for one in server.call("GET", "/api/v1").body["resources"]}
    assert {"pods", "pods/status", "namespaces", "events"} <= names


def test_an_unknown_path_is_a_plain_404(server: Both) -> None:
    answer = server.call("GET", "/apis/nobody.example/v1")
    assert (answer.status, str(answer.body).strip()) == (404, "404 page not found")


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


def test_requests_are_recorded(talk: Talk) -> None:
    user = talk.server.user()
    path = talk.path("takaras", query="limit=500")
    talk.server.call("GET", path, user=user)
    talk.server.call("POST", talk.path("takaras", query="dryRun=All"), takara(), user=user)
    talk.server.call("PATCH", talk.path("takaras", "one", "status"), {}, user=user)
    listed, created, patched = talk.server.requests(user)
    assert (listed.verb, listed.uri, listed.code, listed.resource) == ("list", path, 200, "takaras")
    assert (created.verb, created.dry_run, created.code) == ("create", True, 201)
    assert (patched.verb, patched.name, patched.subresource, patched.namespace) == (
        "patch",
        "one",
        "status",
        talk.namespace,
    )


def test_parallel_writers_lose_nothing(talk: Talk) -> None:
    talk.create("takaras", takara())

    def label(number: int) -> int:
        return talk.patch("takaras", {"metadata": {"labels": {f"l{number}": "x"}}}).status

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(label, range(32))) == {200}
    assert len(talk.get("takaras")["metadata"]["labels"]) == 32


def test_of_parallel_creates_one_wins(talk: Talk) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: talk.apply(deployment(resourceVersion="1")).status, range(8)))
    assert sorted(answers) == [201, *[409] * 7]


def test_parallel_scales_count_every_change(talk: Talk) -> None:
    talk.create("takaras", takara(size=0))

    def scale(size: int) -> int:
        return talk.patch("takaras", {"spec": {"size": size}}).status

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(scale, range(1, 17))) == {200}
    assert generation(talk.get("takaras")) == 17


ODD: list[tuple[str, str, Any, str]] = [
    ("PATCH", "/apis/apps/v1/namespaces/default/deployments", {}, "application/merge-patch+json"),
    ("POST", "/apis/apps/v1/namespaces/default/deployments/one", {}, "application/json"),
    ("POST", "/apis/apps/v1/deployments", {}, "application/json"),
    ("PUT", "/apis/apps/v1/namespaces/default/deployments/one/nothing", {}, "application/json"),
    ("BREW", "/apis/apps/v1/namespaces/default/deployments", None, "application/json"),
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
