"""Rivals meet on a real API server and on the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.simulated import Simulated
from tests.main_job.conftest import server, tool, world
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.control_plane.server import ControlPlane

__all__ = ["server", "tool", "world"]


@pytest.fixture
def simulated(tmp_path: Path) -> Iterator[Simulated]:
    """A simulated cluster, for what is tried so often that a real one would take too long."""
    with Simulated(tmp_path) as cluster:
        yield cluster


@pytest.fixture
def arena(simulated: Simulated) -> World:
    """A namespace of its own on that cluster."""
    return World(simulated, simulated.namespace())


@pytest.fixture
def new_arena(simulated: Simulated) -> Callable[[], World]:
    """As many as are asked for."""
    return lambda: World(simulated, simulated.namespace())


@pytest.fixture
def real_world(control_plane: ControlPlane) -> World:
    """A namespace on a real API server, for what has a form of its own there."""
    return World(control_plane, control_plane.namespace())
