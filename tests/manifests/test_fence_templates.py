"""Somebody with rights on Takaras only wants a pod of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.manifests.install import tenant, until
from tests.world import World, takara

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.control_plane.server import ControlPlane
    from tests.server import Answer, User
    from tests.world import Json

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
EVIL: Json = {
    "spec": {
        "hostNetwork": True,
        "serviceAccountName": "admin",
        "volumes": [{"name": "host", "hostPath": {"path": "/"}}],
        "containers": [{"name": "evil", "image": "evil"}],
    }
}
GOOD: Json = {"spec": {"containers": [{"name": "good", "image": "good"}]}}


class Tenant:
    """Somebody in a namespace with a Takara `plain`, and `own`, whose template an admin has set."""

    def __init__(self, server: ControlPlane, user: User | None = None, **rules: list[str]) -> None:
        self.world = World(server, server.namespace())
        self.world.create(takara("plain"), takara("own", template=GOOD))
        everything = {
            "maho.takara.org__takaras_status": ["get", "patch", "update"],
            "maho.takara.org__takaras": ["get"],
        }
        self.user = user or tenant(server, self.world.namespace, "takara-edit", **everything, **rules)
        self.path = self.world.takara_path("")[:-1]
        until(server, self.user, f"{self.path}/plain")

    def send(self, method: str, what: str, body: Any, kind: str = "") -> Answer:
        kind = kind or (MERGE if method == "PATCH" else "application/json")
        return self.world.server.call(method, f"{self.path}{what}", body, content_type=kind, user=self.user)

    def template(self, name: str) -> Any:
        return self.world.takara(name)["spec"].get("template")


@pytest.fixture
def mallory(cluster: ControlPlane) -> Tenant:
    return Tenant(cluster)


def refused(answer: Answer) -> None:
    assert answer.status == 403, answer.body
    assert "ValidatingAdmissionPolicy 'takara-template'" in answer.body["message"], answer.body
    assert "spec.template may only be set by who may create Deployments" in answer.body["message"]


def test_none_is_created(mallory: Tenant) -> None:
    body = takara("new", template=EVIL)
    refused(mallory.send("POST", "", body))
    refused(mallory.send("POST", "?dryRun=All", body))
    refused(mallory.send("PATCH", "/new?fieldManager=me", body, APPLY))
    generated = body | {"metadata": {"generateName": "new-"}}
    refused(mallory.send("POST", "", generated))
    assert mallory.world.server.call("GET", f"{mallory.path}/new").status == 404


@pytest.mark.parametrize("name", ["plain", "own"])
def test_none_is_added_or_changed(mallory: Tenant, name: str) -> None:
    before = mallory.template(name)
    live = mallory.world.takara(name)
    live["spec"]["template"] = EVIL
    refused(mallory.send("PUT", f"/{name}", live))
    refused(mallory.send("PATCH", f"/{name}", {"spec": {"template": EVIL}}))
    operation = {"op": "add", "path": "/spec/template", "value": EVIL}
    refused(mallory.send("PATCH", f"/{name}", [operation], JSON_PATCH))
    refused(mallory.send("PATCH", f"/{name}?fieldManager=me&force=true", takara(name, template=EVIL), APPLY))
    refused(mallory.send("PATCH", f"/{name}", {"spec": {"size": 2, "template": EVIL}}))
    assert mallory.template(name) == before


def test_no_part_of_one_is_changed(mallory: Tenant) -> None:
    path = "/spec/template/spec/containers/0/image"
    refused(mallory.send("PATCH", "/own", [{"op": "replace", "path": path, "value": "evil"}], JSON_PATCH))
    refused(mallory.send("PATCH", "/own", {"spec": {"template": {"spec": {"hostNetwork": True}}}}))
    refused(mallory.send("PATCH", "/own", {"spec": {"template": {"spec": {"containers": None}}}}))
    assert mallory.template("own") == GOOD


@pytest.mark.parametrize("subresource", ["status", "scale"])
@pytest.mark.parametrize("name", ["plain", "own"])
def test_no_subresource_is_a_way_round(mallory: Tenant, name: str, subresource: str) -> None:
    before = mallory.template(name)
    live = mallory.world.server.call("GET", f"{mallory.path}/{name}/{subresource}").body
    live["spec"]["template"] = EVIL
    operation = {"op": "add", "path": "/spec/template", "value": EVIL}
    answers = (
        mallory.send("PUT", f"/{name}/{subresource}", live),
        mallory.send("PATCH", f"/{name}/{subresource}", {"spec": {"template": EVIL}}),
        mallory.send("PATCH", f"/{name}/{subresource}", [operation], JSON_PATCH),
        mallory.send("PATCH", f"/{name}/{subresource}?fieldManager=me", takara(name, template=EVIL), APPLY),
    )
    assert {answer.status for answer in answers} <= {200, 400, 422}, answers  # tried, not just forbidden
    assert mallory.template(name) == before


def test_a_template_that_was_removed_does_not_come_back(mallory: Tenant) -> None:
    assert mallory.send("PATCH", "/own", {"spec": {"template": None}}).status == 200
    assert mallory.template("own") is None
    refused(mallory.send("PATCH", "/own", {"spec": {"template": GOOD}}))


def test_a_takara_made_anew_has_no_older_rights(mallory: Tenant) -> None:
    assert mallory.send("DELETE", "/own", None).status == 200
    refused(mallory.send("POST", "", takara("own", template=GOOD)))


@pytest.mark.parametrize("name", ["plain", "own"])
def test_sizes_and_what_is_no_template_pass(mallory: Tenant, name: str) -> None:
    before = mallory.template(name)
    assert mallory.send("PATCH", f"/{name}", {"spec": {"size": 5}}).status == 200
    assert mallory.send("PATCH", f"/{name}/scale", {"spec": {"replicas": 6}}).status == 200
    live = mallory.world.takara(name)
    live["spec"]["size"], live["metadata"]["labels"] = 7, {"a": "b"}
    assert mallory.send("PUT", f"/{name}", live).status == 200
    assert mallory.world.takara(name)["spec"]["size"] == 7
    assert mallory.template(name) == before


def test_who_may_create_deployments_there_may_set_one(cluster: ControlPlane) -> None:
    alice = Tenant(cluster, apps__deployments=["create"])
    assert alice.send("PATCH", "/plain", {"spec": {"template": GOOD}}).status == 200
    assert alice.send("POST", "", takara("new", template=EVIL)).status == 201
    assert alice.send("PATCH", "/own?fieldManager=me&force=true", takara("own", template=EVIL), APPLY).status == 200


@pytest.mark.parametrize("rights", [["update", "patch", "get"], ["list"]])
def test_lesser_rights_on_deployments_are_not_enough(cluster: ControlPlane, rights: list[str]) -> None:
    refused(Tenant(cluster, apps__deployments=rights).send("PATCH", "/plain", {"spec": {"template": GOOD}}))


def test_the_right_in_another_namespace_is_not_enough(cluster: ControlPlane) -> None:
    alice = Tenant(cluster, apps__deployments=["create"])
    mallory = Tenant(cluster)
    binding = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{mallory.world.namespace}/rolebindings"
    both = {
        "metadata": {"name": "both"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "takara-edit"},
        "subjects": [{"kind": "User", "name": alice.user.name, "apiGroup": "rbac.authorization.k8s.io"}],
    }
    mallory.world.call("POST", binding, both)
    view = both | {"metadata": {"name": "view"}, "roleRef": both["roleRef"] | {"name": "takara-view"}}  # type: ignore[operator]
    mallory.world.call("POST", binding, view)
    until(cluster, alice.user, f"{mallory.path}/plain")
    mallory.user = alice.user
    refused(mallory.send("PATCH", "/plain", {"spec": {"template": GOOD}}))


def test_without_this_policy_the_attack_succeeds(installed_with: Callable[..., ControlPlane]) -> None:
    mallory = Tenant(installed_with(policies=("takara-sync",)))
    assert mallory.send("PATCH", "/plain", {"spec": {"template": EVIL}}).status == 200
