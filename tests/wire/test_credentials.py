"""Tokens, read again each minute; keys, which get into no other file; and what a new connection reads anew."""

from __future__ import annotations

import base64
import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from takara_sync.deadline import Deadline
from takara_sync.errors import ConfigurationError, Untrusted
from takara_sync.kube.api import Api
from takara_sync.kube.connection import Connection
from takara_sync.kube.response import Request
from tests.support.certificates import Certificates
from tests.wire.answers import good
from tests.wire.command import TOKEN, Command, kubeconfig
from tests.wire.credentials import in_pod, only

if TYPE_CHECKING:
    from pathlib import Path

    from tests.wire.server import FaultServer

GET = Request("GET", "/x")
NEW = "n3w-t0k3n"


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


def test_a_token_file_is_read_again_each_minute_and_may_be_gone(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "token"
    path.write_text(TOKEN)
    connection = Connection(str(kubeconfig(tmp_path, "https://h", {"tokenFile": str(path)})), clock=clock)
    path.write_text(NEW + "\n")
    said = []
    for _ in range(3):
        said.append(header(connection))
        clock.now += 30
    assert said == [f"Bearer {TOKEN}"] * 2 + [f"Bearer {NEW}"]
    path.unlink()
    clock.now += 31
    assert header(connection) == f"Bearer {NEW}"


@pytest.mark.parametrize(
    ("server", "more", "encoding"),
    [
        ("https://h", {}, "gzip"),
        ("https://h", {"disable-compression": True}, "identity"),
        ("https://127.0.0.1:1", {}, "identity"),
    ],
)
def test_responses_are_compressed_only_over_a_network(
    tmp_path: Path, server: str, more: dict[str, Any], encoding: str
) -> None:
    client = Connection(str(kubeconfig(tmp_path, server, **more))).client()
    assert client.headers_for("application/json", "")["Accept-Encoding"] == encoding


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


# ------------------------------------------------------------------ the key of a client


@pytest.fixture
def pair(certificates: Certificates) -> dict[str, Any]:
    """A user with a certificate and its key in the kubeconfig itself."""
    served = certificates.served("client", subject="someone")
    files = {"client-certificate-data": served.certificate, "client-key-data": served.key}
    return {key: base64.b64encode(path.read_bytes()).decode() for key, path in files.items()}


def test_no_folder_for_temporary_files_is_needed(
    tmp_path: Path, pair: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    assert Connection(str(kubeconfig(tmp_path, "https://h", pair))).client()


def test_nothing_is_left_by_a_loop_that_is_killed(
    command: Command, tls_server: FaultServer, tmp_path: Path, pair: dict[str, Any]
) -> None:
    path = kubeconfig(tmp_path, tls_server, pair)
    process = command.start("--interval", "1", "--kubeconfig", str(path), env={"TMPDIR": str(tmp_path)})
    end = time.monotonic() + 20
    while not tls_server.requests and time.monotonic() < end:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert tls_server.requests
    assert {file for file in tmp_path.rglob("*") if file.is_file()} == {path}


# ------------------------------------------------------------------ what a new connection reads anew


def test_who_switches_the_context_moves_no_running_loop(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, "https://one")
    first = Connection(str(path))
    config = yaml.safe_load(path.read_text())
    here = config["contexts"]
    there = [{"name": "there", "context": {"cluster": "other", "user": "someone"}}]
    config["clusters"].append({"name": "other", "cluster": {"server": "https://other"}})
    before, other = first.chosen.context, "https://other"
    for contexts, same_loop in ((here + there, "https://one"), (there, other)):  # then the context is gone
        path.write_text(yaml.safe_dump(config | {"contexts": contexts, "current-context": "there"}))
        assert Connection(str(path), before=before).client().url == same_loop
        assert Connection(str(path)).client().url == other


def test_the_authority_of_a_pod_is_read_anew(
    tmp_path: Path, certificates: Certificates, tls_server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file stays, its content changes, as the kubelet does it. The token's file ends with a newline."""
    mounted = tmp_path / "ca.crt"
    (tmp_path / "other").mkdir()
    mounted.write_bytes(Certificates(tmp_path / "other").authority.read_bytes())
    monkeypatch.setenv("HOME", str(tmp_path))
    tls_server.on("/x", only(TOKEN))
    in_pod(tmp_path, monkeypatch, tls_server.address, mounted)
    with pytest.raises(Untrusted):
        Api.connect().send(GET, Deadline(20))
    mounted.write_bytes(certificates.authority.read_bytes())
    api = Api.connect()
    assert api.send(GET, Deadline(20)) == b"{}"
    api.close()
