"""`once NAME` and `plan NAME`: these Takaras and no others, for the same number of lists."""

from __future__ import annotations

import pytest

from tests.commands.running import ON_THE_SIMULATOR, Commands
from tests.world import World, takara

pytestmark = ON_THE_SIMULATOR


def test_only_the_named_ones_are_written_reported_and_counted(world: World, commands: Commands) -> None:
    world.create(*(takara(name, 1) for name in ("one", "two", "three")))

    done = commands.json("once", "one", f"{world.namespace}/two", "--max-changes", "2")

    assert (done.code, done.results) == (0, {"one": "created", "two": "created"})
    assert sorted(done.lists) == ["deployments", "pods", "takaras"]
    assert not world.has_deployment("three")
    assert "conditions" not in world.takara("three").get("status", {})
    assert commands.json("plan", "one").code == 0
    planned = commands.reading("plan", "three")
    assert [line["name"] for line in planned.report["takaras"]] == ["three"]
    assert commands.json("once", "one", "three", "--max-changes", "0").code == 5
    assert len(commands.json("once", "one").requests) == 3


def test_in_other_namespaces(world: World) -> None:
    other = World(world.server, world.server.namespace())
    for place in (world, other):
        place.create(takara("web", 1))
    everywhere = Commands(world.server)
    both = f"{world.namespace}/web", f"{other.namespace}/web"

    unclear = everywhere.json("once", "web")

    assert (unclear.code, unclear.writes) == (1, [])
    assert all(name in unclear.report["error"]["message"] for name in both)
    only = everywhere.json("once", both[1])
    assert {request.namespace for request in only.requests} == {other.namespace}
    assert (only.code, world.has_deployment("web"), other.has_deployment("web")) == (0, False, True)
    assert everywhere.json("once", "web", "-n", world.namespace).code == 0
    two = everywhere.json("once", *both, "-n", f"{world.namespace},{other.namespace},{world.server.namespace()}")
    assert (len(two.results), two.report["emptyNamespaces"]) == (1, [])


@pytest.mark.parametrize("command", ["once", "plan"])
def test_a_name_of_nothing_stops_everything(world: World, commands: Commands, command: str) -> None:
    world.create(takara("one", 1))
    done = commands.json(command, "one", "onne")
    assert (done.code, done.writes) == (1, [])
    assert done.report["error"]["message"] == "There is no Takara onne"
    assert done.report["error"]["hint"].startswith("Did you mean one?")


@pytest.mark.parametrize("command", ["once", "plan"])
def test_what_the_filters_do_not_meet_is_said(world: World, commands: Commands, command: str) -> None:
    world.create(takara("one", 0))
    assert commands.run(command, "-l", "no=such").stdout.endswith("no Takara matches the selector no=such\n")
    empty = world.server.namespace()
    assert commands.run(command, "-n", empty).stdout.endswith(f"no Takaras in: {empty}\n")
    assert "no Takara" not in commands.run(command, "one", "-n", empty).stdout
