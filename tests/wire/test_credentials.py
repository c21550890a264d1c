"""Tokens: read again each minute, stripped, and never seen in an output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from takara_sync.deadline import Deadline
from takara_sync.errors import ConfigurationError, Unauthorized
from takara_sync.kube.api import Api
from takara_sync.kube.connection import Connection
from takara_sync.kube.response import Request
from tests.wire.answers import good
from tests.wire.command import TOKEN, kubeconfig
from tests.wire.credentials import in_pod, only

if TYPE_CHECKING:
    from pathlib import Path

    from tests.wire.server import FaultServer

GET = Request("GET", "/x")
NEW = "n3w-t0k3n"


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(TOKEN)
    return path


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def header(connection: Connection) -> str:
    """What the next request will say."""
    found: str = connection.client(Deadline(20)).authorization
    return found


def test_a_token_file_is_read_again_each_minute(tmp_path: Path, token_file: Path) -> None:
    clock = Clock()
    connection = Connection(str(kubeconfig(tmp_path, "https://h", {"tokenFile": str(token_file)})), clock=clock)
    token_file.write_text(NEW + "\n")
    said = []
    for _ in range(3):
        said.append(header(connection))
        clock.now += 30
    assert said == [f"Bearer {TOKEN}"] * 2 + [f"Bearer {NEW}"]


def test_a_token_file_that_is_gone_leaves_the_token(tmp_path: Path, token_file: Path) -> None:
    clock = Clock()
    connection = Connection(str(kubeconfig(tmp_path, "https://h", {"tokenFile": str(token_file)})), clock=clock)
    token_file.unlink()
    clock.now += 61
    assert header(connection) == f"Bearer {TOKEN}"


def test_a_401_ends_it(tmp_path: Path, server: FaultServer) -> None:
    server.on("/x", only(NEW))
    with pytest.raises(Unauthorized, match="401"):
        Api.connect(str(kubeconfig(tmp_path, server))).send(GET, Deadline(20))
    assert len(server.requests) == 1


def test_the_token_of_a_pod(tls_server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file ends with a newline."""
    assert tls_server.tls
    in_pod(tmp_path, monkeypatch, tls_server.address, tls_server.tls.authority)
    monkeypatch.setenv("HOME", str(tmp_path))
    tls_server.on("/x", only(TOKEN))
    api = Api.connect()
    assert api.send(GET, Deadline(20)) == b"{}"
    api.close()


def test_a_pod_without_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_pod(tmp_path, monkeypatch, "10.0.0.1:443", ca=__file__).unlink()
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ConfigurationError, match="automountServiceAccountToken"):
        Api.connect()


@pytest.mark.parametrize("token", [f"{TOKEN}\nX-Evil: 1", f"{TOKEN}\r\n x", f"{TOKEN}\0", f"{TOKEN}ü"])
def test_a_token_that_no_header_can_carry(tmp_path: Path, server: FaultServer, token: str) -> None:
    with pytest.raises(ConfigurationError, match="token") as raised:
        Api.connect(str(kubeconfig(tmp_path, server, {"token": token})))
    chain: BaseException | None = raised.value
    while chain is not None:
        assert TOKEN not in repr(chain)
        chain = chain.__cause__ or chain.__context__
    assert server.requests == []


def test_name_and_password(tmp_path: Path, server: FaultServer) -> None:
    server.on("/x", good())
    api = Api.connect(str(kubeconfig(tmp_path, server, {"username": "u", "password": "p"})))
    api.send(GET, Deadline(20))
    assert server.requests[0].headers["authorization"] == "Basic dTpw"
    api.close()
