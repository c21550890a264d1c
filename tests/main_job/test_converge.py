"""Takaras become Deployments, drift is undone, and what did not drift is left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.control_plane.server import ControlPlane
from tests.support.takaras import takara
from tests.tool import Tool
from tests.world import World

EXAMPLES = Path(__file__).parents[2] / "k8s" / "examples"


def test_the_two_samples_converge_in_the_whole_cluster(fresh_control_plane: Callable[..., ControlPlane]) -> None:
    world = World(fresh_control_plane(), "default")
    tool = Tool(world.server)
    world.kubectl("apply", "-k", str(EXAMPLES))

    first = tool.converge()

    assert first.results == {"example-takara": "created", "takara-busybox": "created"}
    for name, size in {"example-takara": 3, "takara-busybox": 10}.items():
        made = world.deployment(name)
        labels = {"app": "takara", "takara_cr": name}
        container = made["spec"]["template"]["spec"]["containers"][0]
        assert made["spec"]["replicas"] == size
        assert made["spec"]["selector"] == {"matchLabels": labels}
        assert made["metadata"]["labels"] == made["spec"]["template"]["metadata"]["labels"] == labels
        assert {key: container[key] for key in ("name", "image", "command")} == {
            "name": "takara",
            "image": "busybox",
            "command": ["sleep", "3600"],
        }
        (owner,) = made["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"], owner["uid"]) == (
            "Takara",
            name,
            True,
            world.takara(name)["metadata"]["uid"],
        )

    world.settle()
    tool.converge()
    for name, size in {"example-takara": 3, "takara-busybox": 10}.items():
        assert world.status(name)["nodes"] == world.pods(name)
        assert len(world.pods(name)) == size
    tool.settled()


def test_ready_is_told_when_it_is_true(world: World, tool: Tool) -> None:
    world.create(takara("one", 2))
    tool.converge()
    assert world.condition("one", "Ready")["reason"] == "Progressing"
    world.server.make_ready(world.namespace, "one")

    tool.converge()

    assert world.condition("one", "Ready")["status"] == "True"
    assert "Ready" in world.kubectl("get", "tk", "one")
    assert (world.status("one")["replicas"], world.status("one")["readyReplicas"]) == (2, 2)
    tool.settled()


HABITS = {
    "scaled": (("scale", "deployment/one", "--replicas=7"), "spec.replicas 7 -> 3 (set by kubectl, subresource scale)"),
    "another image": (("set", "image", "deployment/one", "takara=nginx"), "nginx -> busybox (set by kubectl-set"),
}


@pytest.mark.parametrize(("habit", "words"), HABITS.values(), ids=HABITS.keys())
def test_drift_is_undone_and_the_log_names_who_caused_it(
    world: World, tool: Tool, habit: tuple[str, ...], words: str
) -> None:
    world.create(takara("one", 3))
    tool.converge()
    world.settle()
    tool.converge()
    world.kubectl(*habit)

    repair = tool.converge()

    spec = world.deployment("one")["spec"]
    assert (spec["replicas"], spec["template"]["spec"]["containers"][0]["image"]) == (3, "busybox")
    (line,) = (line for line in repair.log if line.get("result") == "updated")
    assert words in line["message"]
    assert line["level"] == "info"


def test_a_restarted_rollout_is_nobodys_drift(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    tool.converge()
    world.server.make_ready(world.namespace, "one")
    tool.converge()
    world.kubectl("rollout", "restart", "deployment/one")
    world.server.make_ready(world.namespace, "one")

    after = tool.converge()

    assert [request.uri for request in after.writes if request.resource == "deployments"] == []
    assert "restartedAt" in str(world.deployment("one"))
    tool.settled()


def test_an_annotation_causes_no_write_at_all(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    tool.converge()
    world.server.make_ready(world.namespace, "one")
    tool.converge()
    world.kubectl("annotate", "deployment/one", "note=mine")
    world.settle()

    tool.settled()


def test_removed_labels_are_put_back_although_no_generation_moved(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    tool.converge()
    world.settle()
    tool.converge()
    generation = world.deployment("one")["metadata"]["generation"]
    world.kubectl("label", "deployment/one", "app-")

    tool.converge()

    assert world.deployment("one")["metadata"]["labels"] == {"app": "takara", "takara_cr": "one"}
    assert world.deployment("one")["metadata"]["generation"] == generation
    tool.settled()


def test_a_replaced_deployment_is_repaired_although_its_generation_is_1(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    tool.converge()
    world.settle()
    tool.converge()
    other = world.deployment("one")
    other["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx"
    other["metadata"] = {key: other["metadata"][key] for key in ("name", "labels", "ownerReferences")}
    world.kubectl("replace", "--force", "-f", "-", stdin=json.dumps(other))
    assert world.deployment("one")["metadata"]["generation"] == 1

    tool.converge()

    assert world.deployment("one")["spec"]["template"]["spec"]["containers"][0]["image"] == "busybox"


def test_takaras_are_scaled_by_their_own_subresource(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    tool.converge()
    world.kubectl("scale", "tk/one", "--replicas=2")

    tool.converge()

    assert world.deployment("one")["spec"]["replicas"] == 2
    selector = world.call("GET", f"{world.takara_path('one')}/scale")["status"]["selector"]
    assert selector == "app=takara,takara_cr=one"


def test_size_0_means_no_pods_and_an_empty_list(world: World, tool: Tool) -> None:
    world.create(takara("none", 0), takara("some", 2))
    tool.converge()
    world.settle()
    tool.converge()
    world.merge("some", {"spec": {"size": 0}})
    tool.converge()
    world.settle()

    tool.converge()

    for name in ("none", "some"):
        assert world.deployment(name)["spec"]["replicas"] == 0
        assert world.status(name)["nodes"] == []
        assert world.condition(name, "Ready")["status"] == "True"
    tool.settled()


def test_a_deleted_takara_takes_its_deployment_along(world: World, tool: Tool) -> None:
    world.create(takara("gone", 1), takara("stays", 1))
    tool.converge()
    world.settle()
    world.kubectl("delete", "tk/gone")

    assert tool.converge().results == {"stays": "unchanged"}
    world.settle()
    assert not world.has_deployment("gone")
    assert tool.converge().results == {"stays": "unchanged"}
