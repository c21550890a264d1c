"""It never touches what is not its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.control_plane.server import ControlPlane
from tests.support.takaras import takara
from tests.tool import Called, Tool
from tests.world import Json, World, as_the_go_operator, owner_reference


def _of_nobody(body: Json, _world: World) -> None:
    del body["metadata"]["ownerReferences"]


def _of_another(body: Json, world: World) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}}
    made = world.call("POST", f"/api/v1/namespaces/{world.namespace}/configmaps", config)
    body["metadata"]["ownerReferences"] = [owner_reference(config | {"metadata": made["metadata"]})]


def _of_a_predecessor(body: Json, _world: World) -> None:
    body["metadata"]["ownerReferences"][0]["uid"] = "00000000-0000-0000-0000-000000000000"


STRANGERS = {
    "no controller": (_of_nobody, "blocked", "DeploymentWithoutController"),
    "another controller": (_of_another, "blocked", "DeploymentOfAnotherController"),
    "a deleted predecessor": (_of_a_predecessor, "skipped", "DeploymentOfPredecessor"),  # garbage collection takes it
}


@pytest.fixture(scope="module")
def still_server(control_plane_assets: Path) -> Iterator[ControlPlane]:
    """A server without controllers: there, garbage collection does not take the predecessor's Deployment away."""
    with ControlPlane(control_plane_assets, controller_manager=False) as server:
        yield server


@pytest.mark.parametrize("labelled", [True, False], ids=["in our list", "not in our list"])
@pytest.mark.parametrize(("change", "result", "reason"), STRANGERS.values(), ids=STRANGERS.keys())
def test_a_strangers_deployment_is_not_touched(
    still_server: ControlPlane, change: Callable[[Json, World], None], result: str, reason: str, *, labelled: bool
) -> None:
    world = World(still_server, still_server.namespace())
    tool = Called(still_server, world.namespace)
    made = world.create(takara("a-good", 1), takara("strange", 2), takara("z-good", 1))
    body = as_the_go_operator(made[1], 5)
    change(body, world)
    if labelled:
        body["metadata"]["labels"] = {"app": "takara", "takara_cr": "strange"}
    before = world.post_deployment(body)

    first = tool.once()

    code = 6 if result == "blocked" else 0
    assert first.code == code
    assert first.results == {"a-good": "created", "strange": result, "z-good": "created"}
    assert world.deployment("strange") == before
    ready, stalled = world.condition("strange", "Ready"), world.condition("strange", "Stalled")
    assert (ready["status"], ready["reason"]) == ("False", reason)
    assert stalled["status"] == str(result == "blocked")
    assert world.status("strange")["nodes"] == []
    assert ("strange" in first.log[-1]["message"]) == (result == "blocked")
    second = tool.once()
    assert (second.code, second.writes) == (code, [])


def test_a_blocked_takara_costs_no_further_write(world: World, tool: Tool) -> None:
    (owner,) = world.create(takara("strange", 2))
    body = as_the_go_operator(owner, 5)
    del body["metadata"]["ownerReferences"]
    world.post_deployment(body)
    world.settle()
    tool.once()

    second = tool.once()

    assert second.code == 6
    assert second.writes == []
    assert [request.verb for request in second.requests] == ["list", "list", "get", "list"]

    world.kubectl("delete", "deployment/strange")
    assert tool.converge().results == {"strange": "created"}
    assert world.condition("strange", "Stalled")["status"] == "False"


def test_a_stray_pod_with_the_same_labels_is_no_node(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    tool.converge()
    world.settle()
    stray = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "stray", "labels": {"app": "takara", "takara_cr": "one", "pod-template-hash": "x"}},
        "spec": {"containers": [{"name": "c", "image": "busybox"}]},
    }
    world.call("POST", f"/api/v1/namespaces/{world.namespace}/pods", stray)

    tool.converge()

    assert world.status("one")["nodes"] == [name for name in world.pods("one") if name != "stray"]
    assert len(world.status("one")["nodes"]) == 1


def test_a_takara_being_deleted_gets_no_write(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    tool.converge()
    world.settle()
    world.merge_deployment("one", {"metadata": {"finalizers": ["example.org/hold"]}})
    world.kubectl("delete", "tk/one", "--cascade=foreground", "--wait=false")
    world.kubectl("scale", "deployment/one", "--replicas=4")

    during = tool.converge()

    assert during.writes == []
    assert during.results == {"one": "skipped"}
    world.merge_deployment("one", {"metadata": {"finalizers": None}})


def test_a_deployment_being_deleted_is_left_to_go(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    tool.converge()
    world.settle()
    world.merge_deployment("one", {"metadata": {"finalizers": ["example.org/hold"]}})
    world.kubectl("delete", "deployment/one", "--wait=false")

    during = tool.converge()

    assert [request.uri for request in during.writes if request.resource == "deployments"] == []
    assert world.condition("one", "Ready")["reason"] == "DeploymentDeleting"
    world.merge_deployment("one", {"metadata": {"finalizers": None}})
    world.server.settle(world.namespace)
    assert tool.converge().results == {"one": "created"}


def test_a_paused_takara_keeps_its_deployment_and_tells_the_truth(world: World, tool: Tool) -> None:
    world.create(takara("one", 2))
    tool.converge()
    world.settle()
    world.merge("one", {"metadata": {"annotations": {"maho.takara.org/paused": "true"}}, "spec": {"size": 5}})

    during = tool.converge()

    assert world.deployment("one")["spec"]["replicas"] == 2
    assert during.results == {"one": "skipped"}
    assert world.condition("one", "Ready")["reason"] == "Paused"
    assert world.status("one")["nodes"] == world.pods("one")

    world.merge("one", {"metadata": {"annotations": {"maho.takara.org/paused": None}}})
    tool.converge()
    assert world.deployment("one")["spec"]["replicas"] == 5
