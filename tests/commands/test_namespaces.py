"""Only the namespaces that are asked for are read, however they are asked for."""

from __future__ import annotations

import pytest

from tests.commands.rights import grant
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


def test_three_ways_to_say_it_make_the_same_requests(world: World, other: World) -> None:
    a, b = world.namespace, other.namespace
    world.create(takara("one", 1))
    commands = Commands(world.server)

    ways = [
        commands.json("once", "-n", a, "-n", b),
        commands.json("once", WATCH_NAMESPACE=f"{a},{b}"),
        commands.json("once", TAKARA_SYNC_NAMESPACE=f"{a}, {b}"),
        commands.json("once", WATCH_NAMESPACE="another", TAKARA_SYNC_NAMESPACE=f"{b},{a}"),
    ]

    first, *others = [sorted(request.uri for request in way.requests if request.verb == "list") for way in ways]
    assert len(first) == 6
    assert all(uris == first for uris in others)


def test_an_empty_watch_namespace_means_all(world: World) -> None:
    """As in the Go operator."""
    done = Commands(world.server).json("plan", WATCH_NAMESPACE="")

    assert {request.namespace for request in done.requests if request.verb == "list"} == {""}


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


def test_a_403_in_one_namespace_stops_the_pass_and_names_it(real_world: World) -> None:
    closed = World(real_world.server, real_world.server.namespace())
    user = real_world.server.user(admin=False)
    grant(real_world, user)
    real_world.create(takara("one", 1))
    closed.create(takara("one", 1))

    done = Commands(real_world.server, user=user).json("once", "-n", real_world.namespace, "-n", closed.namespace)

    assert (done.code, done.writes) == (3, [])
    message = done.report["error"]["message"]
    assert f"Cannot list deployments in namespace {closed.namespace}" in message
    assert real_world.namespace not in message
    assert message in done.log[-1]["message"]
    assert done.report["emptyNamespaces"] == []  # nobody knows what is in them
    assert not real_world.has_deployment("one")
