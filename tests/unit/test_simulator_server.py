"""The simulator over HTTP: odd clients, kept-alive connections, background ticks."""

from __future__ import annotations

import json
import socket
import time
from http.client import HTTPConnection, RemoteDisconnected
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from takara_sync.simulator import Simulator, Store
from tests.contract.talk import deployment, takara

if TYPE_CHECKING:
    from collections.abc import Iterator

TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/default/takaras"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


@pytest.fixture
def cluster() -> Iterator[Simulator]:
    with Simulator() as found:
        yield found


def connection(cluster: Simulator) -> HTTPConnection:
    return HTTPConnection(cluster.url.removeprefix("http://"), timeout=10)


def ask(talk: HTTPConnection, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    raw = None if body is None else json.dumps(body)
    talk.request(method, path, raw, {"Content-Type": "application/json", **headers})
    answer = talk.getresponse()
    text = answer.read()
    return answer.status, json.loads(text) if "json" in answer.headers["Content-Type"] else text


def raw(cluster: Simulator, request: bytes) -> bytes:
    """What comes back for these bytes, until the server hangs up or says nothing more for a second."""
    host, port = cluster.url.removeprefix("http://").split(":")
    received = b""
    with socket.create_connection((host, int(port)), timeout=1) as wire:
        wire.sendall(request)
        try:
            while chunk := wire.recv(65536):
                received += chunk
        except TimeoutError:
            pass
    return received


def test_one_connection_serves_many_requests(cluster: Simulator) -> None:
    talk = connection(cluster)
    assert ask(talk, "POST", TAKARAS, takara())[0] == 201
    sock = talk.sock
    for _ in range(5):
        assert ask(talk, "GET", TAKARAS)[0] == 200
    assert talk.sock is sock


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GARBAGE\r\n\r\n", b"400"),
        (b"GET / HTTP/9.9\r\n\r\n", b"505"),
        (b"GET /" + b"x" * 70000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"BREW /version HTTP/1.1\r\n\r\n", b"501"),
    ],
)
def test_odd_http_gets_an_answer(cluster: Simulator, request_bytes: bytes, status: bytes) -> None:
    assert status in raw(cluster, request_bytes).split(b"\r\n")[0]
    assert ask(connection(cluster), "GET", "/version")[0] == 200


def test_an_error_of_the_simulator_is_logged_and_the_next_request_is_answered(
    cluster: Simulator, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(cluster.store, "write", broken)
        with pytest.raises(RemoteDisconnected):
            ask(connection(cluster), "POST", TAKARAS, takara())
    assert "ZeroDivisionError" in caplog.text
    assert ask(connection(cluster), "POST", TAKARAS, takara())[0] == 201


def test_the_controllers_tick_by_themselves_when_asked() -> None:
    with Simulator(tick_every=0.01) as cluster:
        talk = connection(cluster)
        ask(talk, "POST", DEPLOYMENTS, deployment())
        end = time.monotonic() + 10
        while ask(talk, "GET", f"{DEPLOYMENTS}/one")[1]["status"].get("availableReplicas") != 3:
            assert time.monotonic() < end
            time.sleep(0.01)


def test_a_kubeconfig_leads_to_it(cluster: Simulator) -> None:
    config = yaml.safe_load(cluster.kubeconfig("somebody", "team"))
    assert config["clusters"][0]["cluster"] == {"server": cluster.url}
    assert config["contexts"][0]["context"]["namespace"] == "team"
    ask(connection(cluster), "GET", "/version", Authorization="Bearer somebody")
    assert cluster.store.requests[-1].user == "somebody"


def test_a_store_can_be_brought_along() -> None:
    store = Store(tokens={"t": "somebody"})
    with Simulator(store) as cluster:
        assert ask(connection(cluster), "GET", TAKARAS)[0] == 401
        assert ask(connection(cluster), "GET", TAKARAS, Authorization="Bearer t")[0] == 200
