"""The main job is done by the installed command, on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tool import Tool
from tests.world import World

if TYPE_CHECKING:
    from tests.server import Server


@pytest.fixture(params=["real"])
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue("control_plane")
    return found


@pytest.fixture
def world(server: Server) -> World:
    """A namespace of its own."""
    return World(server, server.namespace())


@pytest.fixture
def tool(world: World) -> Tool:
    """The command, with a user of its own, in that namespace."""
    return Tool(world.server, world.namespace)
