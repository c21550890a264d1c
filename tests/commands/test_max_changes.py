"""`--max-changes`: of a plan that is larger than allowed no change is made; statuses are written."""

from __future__ import annotations

from tests.commands.running import ON_THE_SIMULATOR, Commands
from tests.commands.staging import fleet, scene
from tests.tool import Pass
from tests.world import World, takara

pytestmark = ON_THE_SIMULATOR


def statuses(done: Pass) -> set[str]:
    """Whose statuses were written, where a pass wrote nothing else."""
    assert {request.subresource for request in done.writes} <= {"status"}
    return {request.name for request in done.writes}


def test_five_where_four_are_allowed(world: World, commands: Commands) -> None:
    names = fleet(world, 5)

    done = commands.json("once", "--max-changes", "4")

    assert (done.code, statuses(done)) == (5, set(names))
    assert done.report["error"]["kind"] == "TooManyChanges"
    for name in names:
        assert f"{world.namespace}/{name}" in done.report["error"]["message"]
        assert f"{world.namespace}/{name}" in done.log[-1]["message"]
    assert done.log[-1]["level"] == "error"
    assert commands.json("plan", "--max-changes", "4").code == 5
    assert commands.json("once", "--dry-run", "--max-changes", "4").code == 5
    assert set(commands.json("once", "--max-changes", "5").results.values()) == {"created"}


def test_creates_replicas_and_templates_count_and_statuses_do_not(world: World, commands: Commands) -> None:
    drifted = scene(
        *(takara(name, 1) for name in ("calm", "scaled", "imaged", "grown")),
        kubectl=["scale deployment/scaled --replicas=3", "set image deployment/imaged takara=nginx"],
        takaras={"grown": {"spec": {"size": 2}}},
        new=[takara("new", 1), takara("big", 1001)],
    )
    drifted(world, commands)

    refused = commands.json("once", "--max-changes", "3")
    done = commands.json("once", "--max-changes", "4")

    assert (refused.code, statuses(refused) >= {"calm", "big"}) == (5, True)
    message = refused.report["error"]["message"]
    assert message.startswith("4 changes are needed, 3 allowed; not written: ")
    assert "calm" not in message
    assert "big" not in message
    assert (done.code, done.results["calm"], done.results["new"]) == (6, "unchanged", "created")
