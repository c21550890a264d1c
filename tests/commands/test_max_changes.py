"""`--max-changes`: a plan that is larger than expected is not carried out in any part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.commands.rights import fleet
from tests.commands.staging import converged
from tests.world import GO_OPERATOR, as_the_go_operator, takara

if TYPE_CHECKING:
    from tests.commands.running import Commands
    from tests.world import World


def test_five_where_four_are_allowed(world: World, commands: Commands) -> None:
    names = fleet(world, 5)

    done = commands.json("once", "--max-changes", "4")

    assert (done.code, done.writes) == (5, [])
    assert done.report["error"]["kind"] == "TooManyChanges"
    for name in names:
        assert f"{world.namespace}/{name}" in done.report["error"]["message"]
        assert f"{world.namespace}/{name}" in done.log[-1]["message"]
    assert done.log[-1]["level"] == "error"
    assert commands.json("plan", "--max-changes", "4").code == 5
    assert commands.json("once", "--dry-run", "--max-changes", "4").code == 5
    assert set(commands.json("once", "--max-changes", "5").results.values()) == {"created"}


def test_creates_replicas_and_templates_count_and_statuses_do_not(world: World, commands: Commands) -> None:
    converged(world, commands, *(takara(name, 1) for name in ("calm", "scaled", "imaged", "grown")))
    world.kubectl("scale", "deployment/scaled", "--replicas=3")
    world.kubectl("set", "image", "deployment/imaged", "takara=nginx")
    world.merge("grown", {"spec": {"size": 2}})
    world.create(takara("new", 1), takara("big", 1001))

    refused = commands.json("once", "--max-changes", "3")
    done = commands.json("once", "--max-changes", "4")

    assert (refused.code, refused.writes) == (5, [])
    assert refused.report["error"]["message"].startswith("4 changes are planned, 3 allowed")
    for name in ("calm", "big"):
        assert name not in refused.report["error"]["message"]
    assert (done.code, done.results["calm"], done.results["new"]) == (6, "unchanged", "created")
    assert {request.name for request in done.writes if request.resource == "takaras"} >= {"calm", "big"}


def test_a_take_over_without_effect_does_not_count(world: World, commands: Commands) -> None:
    """Nor does it where labels are all that it brings: no pod and no size changes. One with an effect counts."""
    for name, size in {"calm": 2, "grown": 3}.items():
        (owner,) = world.create(takara(name, size))
        world.post_deployment(as_the_go_operator(owner, 2), GO_OPERATOR)

    refused = commands.json("once", "--max-changes", "0")
    done = commands.json("once", "--max-changes", "1")

    assert (refused.code, refused.writes) == (5, [])
    assert refused.report["error"]["message"].endswith(f"nothing was written: {world.namespace}/grown")
    assert done.results == {"calm": "taken over", "grown": "taken over"}


def test_what_is_not_in_the_list_is_looked_up_before_anything_is_counted(world: World, commands: Commands) -> None:
    """The Deployments of the Go operator have no labels: absence from the list is no create."""
    (owner,) = world.create(takara("old", 2))
    world.post_deployment(as_the_go_operator(owner, 2), GO_OPERATOR)
    world.create(takara("new", 1))

    done = commands.json("once", "--max-changes", "2")

    asked = [(request.verb, request.name) for request in done.requests]
    first_write = next(number for number, request in enumerate(done.requests) if request.writes)
    assert {("get", "old"), ("get", "new")} <= set(asked[:first_write])
    assert done.results == {"new": "created", "old": "taken over"}


def test_with_room_for_no_change_a_converged_fleet_is_fine(world: World, commands: Commands) -> None:
    converged(world, commands, takara("one", 1))

    assert commands.json("once", "--max-changes", "0").code == 0
