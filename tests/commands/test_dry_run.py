"""A dry run says that it is one: nobody may take its report or its log for what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.commands.running import Commands
from tests.commands.scenarios import scaled_by_kubectl
from tests.contract.simulated import Simulated
from tests.world import World, takara

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """One Takara to create and one to repair."""
    with Simulated(tmp_path_factory.mktemp("fleet")) as simulated:
        world = World(simulated, simulated.namespace())
        commands = Commands(simulated, world.namespace)
        scaled_by_kubectl(world, commands)
        world.create(takara("new", 1))
        yield commands


def test_the_report_for_people_says_so(commands: Commands) -> None:
    assert "dry run" in commands.run("once", "--dry-run").stdout


def test_the_report_for_machines_claims_no_write(commands: Commands) -> None:
    dry = commands.reading("once", "--dry-run")

    assert dry.code == 1
    assert [line["statusWritten"] for line in dry.report["takaras"]] == [False, False]


def test_the_log_says_so_wherever_it_names_a_change(commands: Commands) -> None:
    dry = commands.reading("once", "--dry-run")

    told = [line["message"] for line in dry.log if line.get("result") in ("created", "updated")]
    assert len(told) == 2
    assert all("dry run" in message for message in [*told, dry.log[-1]["message"]])


def test_changes_that_are_pending_are_no_error(commands: Commands) -> None:
    """The exit code is 1, but nothing has failed."""
    assert commands.reading("once", "--dry-run").log[-1]["level"] != "error"
