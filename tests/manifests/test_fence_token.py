"""Somebody has the token of takara-sync, and wants more than the default pods of Takaras.

Each refusal names the policy: nothing else refused it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.control_plane.server import ControlPlane
from tests.manifests.install import identity
from tests.manifests.pods import OTHER_PODS, deployment
from tests.server import Answer, User
from tests.world import Json, World, owner_reference, takara

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"


class Thief:
    """Somebody with a user's token in one namespace, which has a Takara `one` with its Deployment."""

    def __init__(self, server: ControlPlane, user: User | None = None) -> None:
        self.world = World(server, server.namespace())
        self.user = user or identity(server)
        (self.owner,) = self.world.create(takara("one"))
        self.mine = owner_reference(self.owner)
        self.path = f"/apis/apps/v1/namespaces/{self.world.namespace}/deployments"

    def create(self, body: Json) -> Answer:
        return self.world.server.call("POST", self.path, body, user=self.user)

    def patch(self, name: str, body: Any, kind: str = MERGE) -> Answer:
        query = "?fieldManager=takara-sync&force=true" if kind == APPLY else ""
        return self.world.server.call("PATCH", f"{self.path}/{name}{query}", body, content_type=kind, user=self.user)

    def given(self, *owners: Json, **body: Any) -> Json:
        """The Deployment `one`, there already, made by an admin."""
        return self.world.post_deployment(deployment("one", *owners, **body))


@pytest.fixture
def thief(cluster: ControlPlane) -> Thief:
    return Thief(cluster)


def refused(*answers: Answer) -> None:
    for answer in answers:
        assert answer.status == 403, answer.body
        assert "ValidatingAdmissionPolicy 'takara-sync'" in answer.body["message"], answer.body


# What makes an owner reference to the Takara `one` none that makes a Deployment `one` its own.
OTHER_OWNERS: dict[str, Json] = {
    "no controller": {"controller": False},
    "another name": {"name": "two"},
    "another kind": {"kind": "Other"},
    "another group": {"apiVersion": "maho.takara.org.evil/v1"},
    "a longer group": {"apiVersion": "x.maho.takara.org/v1alpha1"},
    "the core group": {"apiVersion": "v1"},
}


@pytest.fixture(params=["none", *OTHER_OWNERS])
def others(thief: Thief, request: pytest.FixtureRequest) -> list[Json]:
    """Owner references that do not make a Deployment `one` that of the Takara `one`."""
    return [thief.mine | OTHER_OWNERS[request.param]] if request.param in OTHER_OWNERS else []


def test_no_deployment_is_made_that_is_not_its_takaras(thief: Thief, others: list[Json]) -> None:
    body = deployment("one", *others)
    refused(thief.create(body), thief.patch("one", body, APPLY))
    assert not thief.world.has_deployment("one")


def test_no_foreign_deployment_is_written_nor_stolen(thief: Thief, others: list[Json]) -> None:
    before = thief.given(*others)
    steal = [{"op": "add", "path": "/metadata/ownerReferences", "value": [thief.mine]}]
    refused(
        thief.patch("one", {"spec": {"replicas": 0}}),
        thief.patch("one", {"metadata": {"labels": {"a": "b"}}}),
        thief.patch("one", deployment("one", thief.mine), APPLY),
        thief.patch("one", {"metadata": {"ownerReferences": [thief.mine]}}),
        thief.patch("one", steal, JSON_PATCH),
    )
    assert thief.world.deployment("one") == before


def test_no_deployment_of_a_takara_is_orphaned_or_given_away(thief: Thief) -> None:
    (two,) = thief.world.create(takara("two"))
    thief.given(thief.mine)
    given_away = ([owner_reference(two)], [thief.mine | {"uid": two["metadata"]["uid"]}])
    for owners in (None, [], *given_away, [thief.mine | {"controller": False}]):
        refused(thief.patch("one", {"metadata": {"ownerReferences": owners}}))
    assert thief.world.deployment("one")["metadata"]["ownerReferences"] == [thief.mine]


@pytest.mark.parametrize("change", OTHER_PODS)
def test_no_pod_but_the_default_one(thief: Thief, change: str) -> None:
    body = deployment("one", thief.mine, **OTHER_PODS[change])
    refused(thief.create(body), thief.patch("one", body, APPLY))
    thief.given(thief.mine)
    template = {"spec": {"template": body["spec"]["template"]}}
    refused(thief.patch("one", body, APPLY), thief.patch("one", template))


@pytest.mark.parametrize("labels", [{"app": "db"}, {"app": "takara", "takara_cr": "two"}, {"takara_cr": "one_x"}])
def test_no_pod_that_services_of_others_would_find(thief: Thief, labels: dict[str, str]) -> None:
    body = deployment("one", thief.mine, metadata={"labels": labels})
    body["spec"]["selector"]["matchLabels"] = labels
    refused(thief.create(body), thief.patch("one", body, APPLY))


def test_what_others_put_into_a_pod_is_no_way_to_more(thief: Thief) -> None:
    """A sidecar that somebody with the right added may stay as it is, and is nothing to build on."""
    sidecar = {"name": "side", "image": "side", "env": [{"name": "A", "value": "1"}]}
    main = deployment("one")["spec"]["template"]["spec"]["containers"][0]
    thief.given(thief.mine, pod={"containers": [main, sidecar], "hostNetwork": True})
    whole = thief.world.deployment("one")["spec"]["template"]
    for containers in (
        [main, sidecar | {"image": "evil"}],
        [main, sidecar | {"name": "twin"}],
        [main, sidecar | {"image": main["image"], "command": main["command"]}],
        [main | {"env": sidecar["env"]}, sidecar],
        [main | {"image": "side"}, sidecar],
    ):
        template = whole | {"spec": whole["spec"] | {"containers": containers}}
        refused(thief.patch("one", {"spec": {"template": template}}))
    refused(thief.patch("one", {"spec": {"template": {"spec": {"hostPID": True}}}}))
    assert thief.patch("one", {"spec": {"replicas": 2}}).status == 200
    assert thief.patch("one", {"spec": {"template": {"spec": {"hostNetwork": None}}}}).status == 200


def test_the_default_pod_passes(thief: Thief) -> None:
    """The other side of all the refusals: it is the change that they refuse."""
    assert thief.create(deployment("one", thief.mine)).status == 201
    assert thief.patch("one", deployment("one", thief.mine), APPLY).status == 200


def test_the_rest_of_the_api_is_closed_by_rbac(thief: Thief) -> None:
    thief.given(thief.mine)
    takaras = f"/apis/maho.takara.org/v1alpha1/namespaces/{thief.world.namespace}/takaras/one"
    for method, path, body in (
        ("DELETE", f"{thief.path}/one", None),
        ("PUT", f"{thief.path}/one", thief.world.deployment("one")),
        ("PATCH", f"{thief.path}/one/scale", {"spec": {"replicas": 9}}),
        ("PATCH", f"{thief.path}/one/status", {"status": {"replicas": 9}}),
        ("PATCH", takaras, {"spec": {"size": 9}}),
        ("GET", f"/api/v1/namespaces/{thief.world.namespace}/secrets", None),
        ("POST", f"/api/v1/namespaces/{thief.world.namespace}/pods", {}),
        ("GET", f"{thief.path}?watch=true", None),
    ):
        answer = thief.world.server.call(method, path, body, content_type=MERGE, user=thief.user)
        assert answer.status == 403, (method, path, answer.body)


def test_a_namesake_elsewhere_is_fenced_too(cluster: ControlPlane) -> None:
    """So a second install namespace is no way round, and an overlay that renames it leaves no hole."""
    namespace = cluster.namespace()
    cluster.kubectl("create", "serviceaccount", "takara-sync", namespace=namespace)
    name = f"--serviceaccount={namespace}:takara-sync"
    cluster.kubectl("create", "clusterrolebinding", namespace, "--clusterrole=cluster-admin", name)
    refused(Thief(cluster, identity(cluster, namespace)).create(deployment("one")))


def test_where_templates_are_allowed_the_pod_is_free_and_the_owner_is_not(
    installed_with: Callable[..., ControlPlane],
) -> None:
    thief = Thief(installed_with("--allow-templates"))
    for change in OTHER_PODS.values():
        dry = thief.world.server.call(
            "POST", f"{thief.path}?dryRun=All", deployment("one", thief.mine, **change), user=thief.user
        )
        assert dry.status == 201, dry.body
    refused(thief.create(deployment("one")))
    thief.given()
    refused(thief.patch("one", deployment("one", thief.mine), APPLY))
