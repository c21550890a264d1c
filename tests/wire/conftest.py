"""Servers that misbehave, the command, and an Api that does not dawdle between its tries."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from takara_sync.kube.api import Api
from tests.support.certificates import Certificates
from tests.support.command import NO_AUTHORITIES
from tests.wire import forked
from tests.wire.command import Called, Command, kubeconfig
from tests.wire.fleet import fleet
from tests.wire.server import FaultServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What these tests look for is a hang; it must not hold the whole run up."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(60))


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session", autouse=True)
def _fleet_of_the_right_program() -> None:
    """Make the fleet, which is cached, before a test puts a bug in the place of the program."""
    fleet()


@pytest.fixture(autouse=True)
def _no_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NO_AUTHORITIES.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as server:
        yield server


@pytest.fixture
def tls_server(certificates: Certificates) -> Iterator[FaultServer]:
    with FaultServer(certificates.served()) as server:
        yield server


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """See `forked.hasty`."""
    forked.hasty(monkeypatch.setattr)


@pytest.fixture
def connect(hasty: None, tmp_path: Path) -> Iterator[Callable[..., Api]]:  # noqa: ARG001 - it is in force
    """Makes an Api to a server, with a timeout that is short, but long enough for a busy machine."""
    with contextlib.ExitStack() as opened:

        def connect(server: FaultServer, request_timeout: float = 0.6) -> Api:
            api = Api.connect(str(kubeconfig(tmp_path, server)), request_timeout=request_timeout)
            opened.callback(api.close)
            return api

        yield connect


@pytest.fixture
def api(server: FaultServer, connect: Callable[..., Api]) -> Api:
    """For what does not depend on a timeout."""
    return connect(server, request_timeout=10)


@pytest.fixture
def command(tmp_path: Path, hasty: None) -> Command:  # noqa: ARG001 - it is in force
    """`run` and `once` call the command in this process, `start` starts one."""
    home = tmp_path / "home"
    home.mkdir()
    return Called(home)
