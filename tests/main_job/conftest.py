"""The main job is done by the installed command, on a real API server and on the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.simulated import Simulated
from tests.control_plane.server import ControlPlane
from tests.server import Server
from tests.tool import Called, Tool
from tests.world import World


@pytest.fixture(params=["simulator", "real"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    if request.param == "real":
        yield request.getfixturevalue("control_plane")
    else:
        with Simulated(tmp_path) as simulated:
            yield simulated


@pytest.fixture
def world(server: Server) -> World:
    """A namespace of its own."""
    return World(server, server.namespace())


@pytest.fixture
def tool(world: World) -> Tool:
    """The command, with a user of its own, in that namespace; `once` calls it in this process."""
    return Called(world.server, world.namespace)


@pytest.fixture
def simulated(tmp_path: Path) -> Iterator[Simulated]:
    """A simulated cluster, for what does not depend on the server or is tried very often."""
    with Simulated(tmp_path) as server:
        yield server


@pytest.fixture
def real_world(control_plane: ControlPlane) -> World:
    """A namespace on a real API server, for what only a real one can show."""
    return World(control_plane, control_plane.namespace())
