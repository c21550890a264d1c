"""Both servers, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.simulated import Simulated
from tests.contract.talk import Talk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contract.talk import Both


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulated]:
    """One simulated cluster for all tests (of one xdist worker)."""
    with Simulated(tmp_path_factory.mktemp("simulated")) as server:
        yield server


@pytest.fixture(params=["simulator", "real"])
def server(request: pytest.FixtureRequest) -> Both:
    """The simulator, then a real control plane (skipped where there is none)."""
    name = "simulated" if request.param == "simulator" else "control_plane"
    found: Both = request.getfixturevalue(name)
    return found


@pytest.fixture
def talk(server: Both) -> Talk:
    """The server in short words, in a namespace of the test's own."""
    return Talk(server)
