"""Long names, sizes that no size is, and what a template may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.control_plane.server import ControlPlane
from tests.support.takaras import takara
from tests.tool import Called, Tool
from tests.world import World


@pytest.mark.parametrize("length", [63, 64, 253])
def test_a_name_of_any_length_converges(world: World, tool: Tool, length: int) -> None:
    name = ("x" * 60 + ".") * 4 + "y" * 9
    name = name[:length].rstrip(".").ljust(length, "z")
    world.create(takara(name, 2))
    tool.converge()
    world.settle()

    tool.converge()

    assert len(world.status(name)["nodes"]) == 2
    tool.settled()


def test_unusable_sizes_block_only_themselves(fresh_control_plane: Callable[..., ControlPlane]) -> None:
    server = fresh_control_plane(crd="schemaless")
    world = World(server, server.namespace())
    tool = Called(server, world.namespace)
    bad: dict[str, Any] = {
        "negative": -1,
        "text": "3",
        "fraction": 1.5,
        "nothing": None,
        "truth": True,
        "huge": 2**31,
        "list": [3],
    }
    missing = takara("missing")
    del missing["spec"]["size"]
    no_spec = takara("no-spec") | {"spec": "three"}
    world.create(takara("a-good", 1), missing, no_spec, *(takara(name, size) for name, size in bad.items()))
    world.create(takara("z-good", 2), takara("too-large", 5000))

    first = tool.once()

    assert first.code == 6
    unusable = {*bad, "missing", "no-spec", "too-large"}
    assert first.results == {"a-good": "created", "z-good": "created"} | dict.fromkeys(unusable, "invalid")
    for name in unusable:
        assert not world.has_deployment(name)
        assert world.condition(name, "Stalled")["status"] == "True"
        assert world.status(name)["observedGeneration"] == world.takara(name)["metadata"]["generation"]
    again = tool.once()
    assert again.code == 6
    assert [request.uri for request in again.writes if "good" not in request.uri] == []
    assert tool.once("--tolerate", "invalid").code == 0


def test_an_invalid_takara_that_had_converged_keeps_its_pods_and_tells_them(world: World, tool: Tool) -> None:
    world.create(takara("one", 2))
    tool.converge()
    world.settle()
    tool.converge()
    world.merge("one", {"spec": {"size": 50}})

    limited = tool.once("--max-size", "10")

    assert limited.code == 6
    assert world.deployment("one")["spec"]["replicas"] == 2
    assert world.status("one")["nodes"] == world.pods("one")
    assert world.condition("one", "Stalled")["reason"] == "SizeTooLarge"


TEMPLATE = {
    "metadata": {"labels": {"team": "blue", "app": "mine"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


def test_a_template_needs_permission(world: World, tool: Tool) -> None:
    world.create(takara("one", 1, template=TEMPLATE))

    assert tool.once().code == 6
    assert world.condition("one", "Stalled")["reason"] == "TemplatesNotAllowed"
    assert not world.has_deployment("one")

    tool.converge("--allow-templates")
    template = world.deployment("one")["spec"]["template"]
    assert template["metadata"]["labels"] == {"team": "blue", "app": "takara", "takara_cr": "one"}
    assert [container["name"] for container in template["spec"]["containers"]] == ["c"]


@pytest.mark.parametrize(
    "broken",
    [
        {"spec": {"containers": [{"name": "c", "image": "i", "imagee": "x"}]}},
        {"spec": {"containers": [{"name": "c", "image": 7}]}},
        {"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "c", "image": "j"}]}},
        {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "many"}}}]}},
        {"spec": {"containers": []}},
        {"spec": {}},
        {"metadata": {"labels": "none"}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    ],
    ids=["unknown field", "wrong type", "duplicate", "bad quantity", "no container", "empty", "labels no object"],
)
def test_a_broken_template_fails_alone_and_is_told(world: World, tool: Tool, broken: Any) -> None:
    world.create(takara("broken", 1, template=broken), takara("good", 1))

    first = tool.once("--allow-templates")

    assert first.code in (1, 6)
    assert first.results["good"] == "created"
    stalled = world.condition("broken", "Stalled")
    assert stalled["status"] == "True"
    assert stalled["reason"] in ("ApplyRejected", "ApplyFailed", "InvalidTemplate")
    tool.once("--allow-templates")
    third = tool.once("--allow-templates")
    assert [request.uri for request in third.writes if request.subresource] == []  # the message is the same each time

    world.merge("broken", {"spec": {"template": None}})
    assert tool.converge().results["broken"] == "created"
    assert world.condition("broken", "Stalled")["status"] == "False"
