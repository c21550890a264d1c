"""Somebody with rights on Takaras only wants a pod of their own. Each refusal names the policy."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.server import ControlPlane
from tests.manifests.install import tenant, until
from tests.server import Answer
from tests.world import Json, World, takara

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

    def __init__(self, server: ControlPlane, on_deployments: list[str] | None = None) -> None:
        self.world = World(server, server.namespace())
        self.world.create(takara("plain"), takara("own", template=GOOD))
        rules = {
            "maho.takara.org/takaras/status": ["get", "patch", "update"],
            "maho.takara.org/takaras": ["get"],
            "apps/deployments": on_deployments or ["watch"],
        }
        self.user = tenant(server, self.world.namespace, "takara-edit", rules=rules)
        self.path = self.world.takara_path("")[:-1]
        until(server, self.user, f"{self.path}/plain")

    def send(self, method: str, what: str, body: Any, kind: str = "") -> Answer:
        kind = kind or (MERGE if method == "PATCH" else "application/json")
        return self.world.server.call(method, f"{self.path}{what}", body, content_type=kind, user=self.user)

    def patch(self, name: str, template: Any) -> Answer:
        return self.send("PATCH", f"/{name}", {"spec": {"template": template}})

    def every_write(self, name: str, subresource: str = "") -> list[Answer]:
        """The evil template in a Takara, in every kind of request."""
        what = f"/{name}{subresource}"
        live = self.world.server.call("GET", f"{self.path}{what}").body
        live["spec"]["template"] = EVIL
        apply = takara(name, template=EVIL)
        return [
            self.send("PUT", what, live),
            self.send("PATCH", what, {"spec": {"template": EVIL}}),
            self.send("PATCH", what, {"spec": {"size": 2, "template": EVIL}}),
            self.send("PATCH", what, [{"op": "add", "path": "/spec/template", "value": EVIL}], JSON_PATCH),
            self.send("PATCH", f"{what}?fieldManager=me{'' if subresource else '&force=true'}", apply, APPLY),
        ]

    def template(self, name: str) -> Any:
        return self.world.takara(name)["spec"].get("template")


@pytest.fixture
def mallory(cluster: ControlPlane) -> Tenant:
    return Tenant(cluster)


def refused(*answers: Answer) -> None:
    for answer in answers:
        assert answer.status == 403, answer.body
        assert "ValidatingAdmissionPolicy 'takara-template'" in answer.body["message"], answer.body
        assert "spec.template may only be set by users who may create Deployments" in answer.body["message"]


def test_none_is_created(mallory: Tenant) -> None:
    body = takara("new", template=EVIL)
    refused(
        mallory.send("POST", "", body),
        mallory.send("POST", "?dryRun=All", body),
        mallory.send("PATCH", "/new?fieldManager=me", body, APPLY),
        mallory.send("POST", "", body | {"metadata": {"generateName": "new-"}}),
    )
    assert mallory.world.server.call("GET", f"{mallory.path}/new").status == 404


@pytest.mark.parametrize("name", ["plain", "own"])
def test_none_is_added_or_changed(mallory: Tenant, name: str) -> None:
    before = mallory.template(name)
    refused(*mallory.every_write(name))
    assert mallory.template(name) == before


def test_no_part_of_one_is_changed(mallory: Tenant) -> None:
    path = "/spec/template/spec/containers/0/image"
    refused(
        mallory.send("PATCH", "/own", [{"op": "replace", "path": path, "value": "evil"}], JSON_PATCH),
        mallory.patch("own", {"spec": {"hostNetwork": True}}),
        mallory.patch("own", {"spec": {"containers": None}}),
    )
    assert mallory.template("own") == GOOD


@pytest.mark.parametrize("subresource", ["/status", "/scale"])
@pytest.mark.parametrize("name", ["plain", "own"])
def test_no_subresource_is_a_way_round(mallory: Tenant, name: str, subresource: str) -> None:
    before = mallory.template(name)
    statuses = {answer.status for answer in mallory.every_write(name, subresource)}
    assert statuses <= {200, 400, 422}  # tried, not just forbidden
    assert mallory.template(name) == before


def test_a_template_that_was_removed_does_not_come_back(mallory: Tenant) -> None:
    assert mallory.patch("own", None).status == 200
    assert mallory.template("own") is None
    refused(mallory.patch("own", GOOD))


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
    assert (mallory.world.takara(name)["spec"]["size"], mallory.template(name)) == (7, before)


def test_who_may_create_deployments_there_may_set_one_and_nowhere_else(cluster: ControlPlane, mallory: Tenant) -> None:
    alice = Tenant(cluster, ["create"])
    assert alice.patch("plain", GOOD).status == 200
    assert alice.send("POST", "", takara("new", template=EVIL)).status == 201
    assert alice.send("PATCH", "/own?fieldManager=me&force=true", takara("own", template=EVIL), APPLY).status == 200
    tenant(cluster, mallory.world.namespace, "takara-edit", "takara-view", user=alice.user)
    until(cluster, alice.user, f"{mallory.path}/plain")
    mallory.user = alice.user
    refused(mallory.patch("plain", GOOD))


@pytest.mark.parametrize("rights", [["update", "patch", "get"], ["list"]])
def test_lesser_rights_on_deployments_are_not_enough(cluster: ControlPlane, rights: list[str]) -> None:
    refused(Tenant(cluster, rights).patch("plain", GOOD))
