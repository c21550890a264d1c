"""Rivals meet on a real API server and on the simulator."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.contract.simulated import Simulated
from tests.main_job.conftest import server, simulated, world
from tests.support.backoff import no_backoff
from tests.world import World

__all__ = ["no_backoff", "server", "simulated", "world"]


@pytest.fixture
def arena(simulated: Simulated) -> World:
    """A namespace of its own on that cluster."""
    return World(simulated, simulated.namespace())


@pytest.fixture
def new_arena(simulated: Simulated) -> Callable[[], World]:
    """As many as are asked for."""
    return lambda: World(simulated, simulated.namespace())
