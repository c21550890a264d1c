"""A dry run says that it is one: nobody may take its report or its log for what was done."""

from __future__ import annotations

from tests.commands.running import ON_THE_SIMULATOR, Commands
from tests.commands.scenarios import scaled_by_kubectl
from tests.world import World, takara


@ON_THE_SIMULATOR
def test_it_says_so_wherever_it_names_a_change(world: World, commands: Commands) -> None:
    """One Takara to create and one to repair. The exit code is 1, but nothing has failed."""
    scaled_by_kubectl(world, commands)
    world.create(takara("new", 1))

    dry = commands.reading("once", "--dry-run")

    assert dry.code == 1
    assert [line["statusWritten"] for line in dry.report["takaras"]] == [False, False]
    changed = [line["message"] for line in dry.log if line.get("result") in ("created", "updated")]
    assert len(changed) == 2
    assert all("dry run" in message for message in [*changed, dry.log[-1]["message"]])
    assert dry.log[-1]["level"] != "error"
    assert "dry run" in commands.run("once", "--dry-run").stdout
