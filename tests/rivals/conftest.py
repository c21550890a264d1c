"""Rivals meet on a real API server and on the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.simulated import Simulated
from tests.main_job.conftest import real_world, server, simulated, tool, world
from tests.support.backoff import no_backoff
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["no_backoff", "real_world", "server", "simulated", "tool", "world"]


@pytest.fixture
def arena(simulated: Simulated) -> World:
    """A namespace of its own on that cluster."""
    return World(simulated, simulated.namespace())


@pytest.fixture
def new_arena(simulated: Simulated) -> Callable[[], World]:
    """As many as are asked for."""
    return lambda: World(simulated, simulated.namespace())
