"""Only the namespaces that are asked for are read, however they are asked for."""

from __future__ import annotations

import pytest

from tests.commands.running import Commands
from tests.world import World, takara


@pytest.fixture
def other(world: World) -> World:
    return World(world.server, world.server.namespace())


def test_two_namespaces_and_not_a_third(world: World, other: World) -> None:
    third = World(world.server, world.server.namespace())
    for one in (world, other, third):
        one.create(takara("one", 1))

    done = Commands(world.server).json("once", "-n", world.namespace, "-n", other.namespace)

    assert done.code == 0
    assert {request.namespace for request in done.requests} == {world.namespace, other.namespace}
    assert [line["namespace"] for line in done.report["takaras"]] == sorted([world.namespace, other.namespace])
    assert not third.has_deployment("one")


def test_a_namespace_that_does_not_exist_reads_as_empty_and_is_named(world: World, other: World) -> None:
    world.create(takara("one", 1))
    commands = Commands(world.server)
    scope = ("-n", world.namespace, "-n", "no-such-place", "-n", other.namespace)

    done = commands.json("once", *scope)

    empty = sorted([other.namespace, "no-such-place"])
    assert (done.code, done.results) == (0, {"one": "created"})
    assert done.report["emptyNamespaces"] == empty
    assert f"no Takaras in: {', '.join(empty)}" in done.log[-1]["message"]
    text = commands.run("once", *scope).stdout.splitlines()
    assert text[-1] == f"no Takaras in: {', '.join(empty)}"
    assert commands.json("once", "-n", world.namespace).report["emptyNamespaces"] == []
    assert commands.json("plan", *scope).code == 0
