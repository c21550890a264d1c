"""Each command meets a real API server and the simulator."""

from __future__ import annotations

import pytest

from tests.commands.running import Commands
from tests.main_job.conftest import real_world, server, simulated, tool, world
from tests.world import World

__all__ = ["real_world", "server", "simulated", "tool", "world"]


@pytest.fixture
def commands(world: World) -> Commands:
    """Every command, with a user of its own, in the namespace of the test."""
    return Commands(world.server, world.namespace)
