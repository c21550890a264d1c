"""Tokens: read anew after a 401, stripped, and never seen in an output."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from takara_sync.cluster import Deadline
from takara_sync.errors import ConfigurationError, PassStopped, Unauthorized
from takara_sync.kube.answers import Request
from takara_sync.kube.api import Api
from tests.wire.answers import good, status
from tests.wire.command import TOKEN, kubeconfig
from tests.wire.credentials import in_pod, only, plugin, printing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.wire.server import FaultServer, Wire

GET = Request("GET", "/x")
NEW = "n3w-t0k3n"


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(TOKEN)
    return path


@pytest.fixture
def rotating(hasty: None, tmp_path: Path, server: FaultServer, token_file: Path) -> Api:  # noqa: ARG001
    """An Api that has read its token, on a server that knows only the next one."""
    server.on("/x", only(NEW))
    return Api.connect(str(kubeconfig(tmp_path, server, {"tokenFile": str(token_file)})), request_timeout=2)


def test_a_rotated_token_is_read_again_once(rotating: Api, server: FaultServer, token_file: Path) -> None:
    token_file.write_text(NEW + "\n")
    assert [rotating.send(GET, Deadline(20)) for _ in range(3)] == [b"{}"] * 3
    assert len(server.requests) == 4


def test_a_second_401_ends_it(rotating: Api, server: FaultServer) -> None:
    with pytest.raises(Unauthorized, match="401"):
        rotating.send(GET, Deadline(20))
    assert len(server.requests) == 2


def test_credentials_that_are_gone_when_read_again_stop_the_pass(
    rotating: Api, server: FaultServer, token_file: Path
) -> None:
    """The cluster was contacted, so it is no usage error, and a loop must live through it."""
    token_file.unlink()
    with pytest.raises(PassStopped):
        rotating.send(GET, Deadline(20))
    assert len(server.requests) == 1


def test_several_threads_that_meet_one_401_read_the_credentials_once(
    hasty: None,  # noqa: ARG001
    tmp_path: Path,
    server: FaultServer,
) -> None:
    runs = tmp_path / "runs"
    code = printing(TOKEN, first=f"open({str(runs)!r}, 'a').write('x')")
    api = Api.connect(str(kubeconfig(tmp_path, server, plugin(code))), request_timeout=5)
    all_there = threading.Barrier(4)
    first = iter([True] * 4)

    def refuse_the_first(wire: Wire) -> None:
        if next(first, False):
            all_there.wait(10)
            status(401)(wire)
        else:
            good()(wire)

    server.on("/x", refuse_the_first)
    threads = [threading.Thread(target=api.send, args=(GET, Deadline(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert runs.read_text() == "xx"
    assert len(server.requests) == 8


def test_the_token_of_a_pod(
    hasty: None,  # noqa: ARG001
    tls_server: FaultServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its file ends with a newline, and is read again after a 401."""
    assert tls_server.tls
    mounted = in_pod(tmp_path, monkeypatch, tls_server.address, tls_server.tls.authority)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    tls_server.on("/x", only(TOKEN))
    api = Api.connect()
    assert api.send(GET, Deadline(20)) == b"{}"
    tls_server.on("/x", only(NEW))
    mounted.write_text(NEW + "\n")
    assert api.send(GET, Deadline(20)) == b"{}"
    assert len(tls_server.requests) == 3
    api.close()


def test_a_pod_without_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_pod(tmp_path, monkeypatch, "10.0.0.1:443", ca=__file__).unlink()
    monkeypatch.delenv("KUBECONFIG", raising=False)
    with pytest.raises(ConfigurationError, match="automountServiceAccountToken"):
        Api.connect()


@pytest.mark.parametrize("token", [f"{TOKEN}\nX-Evil: 1", f"{TOKEN}\r\n x", f"{TOKEN}\0", f"{TOKEN}ü"])
def test_a_token_that_no_header_can_carry(tmp_path: Path, server: FaultServer, token: str) -> None:
    api = Api.connect(str(kubeconfig(tmp_path, server, {"token": token})))
    with pytest.raises((PassStopped, ConfigurationError), match="token") as raised:
        api.send(GET, Deadline(20))
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
