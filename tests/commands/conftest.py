"""Each command meets a real API server and the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.commands.running import Commands
from tests.contract.simulated import Simulated
from tests.main_job.conftest import server, tool, world
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.control_plane.server import ControlPlane

__all__ = ["server", "tool", "world"]


@pytest.fixture
def commands(world: World) -> Commands:
    """Every command, with a user of its own, in the namespace of the test."""
    return Commands(world.server, world.namespace)


@pytest.fixture
def simulated(tmp_path: Path) -> Iterator[Simulated]:
    """A simulated cluster, for what does not depend on the server."""
    with Simulated(tmp_path) as server:
        yield server


@pytest.fixture
def real_world(control_plane: ControlPlane) -> World:
    """A namespace on a real API server, for what only such a one can show."""
    return World(control_plane, control_plane.namespace())
