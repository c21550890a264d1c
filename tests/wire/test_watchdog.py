"""A request that never ends is ended: over HTTP and TLS, on new and kept-alive connections, wherever it drags on."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from takara_sync.cluster import Deadline
from takara_sync.errors import TakaraSyncError
from takara_sync.kube.answers import Request
from tests.wire.answers import HEAD, STATUS_LINE, drip, good, mute, never, reset, status

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from takara_sync.kube.api import Api
    from tests.wire.answers import Answer
    from tests.wire.server import FaultServer

GET = Request("GET", "/x")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
UNTIL_CLOSED = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
ENDLESS: dict[str, Answer] = {
    "no answer": never(),
    "headers stop": never(STATUS_LINE),
    "headers drip": drip(STATUS_LINE),
    "body never comes": never(HEAD),
    "body stops": never(HEAD + b"{"),
    "body drips": drip(HEAD),
    "chunk drips": drip(CHUNKED + b"5000\r\n"),
    "size of a chunk drips": drip(CHUNKED),
    "drips until closed": drip(UNTIL_CLOSED),
}


@pytest.fixture(params=["http", "tls"])
def either(request: pytest.FixtureRequest) -> FaultServer:
    found: FaultServer = request.getfixturevalue("server" if request.param == "http" else "tls_server")
    return found


@pytest.mark.parametrize("kept_alive", [False, True], ids=["new", "kept-alive"])
@pytest.mark.parametrize("name", ENDLESS)
def test_it_is_ended_and_asked_for_again(
    either: FaultServer, connect: Callable[..., Api], name: str, kept_alive: bool
) -> None:
    api = connect(either)
    if kept_alive:
        either.on("/before", good())
        api.send(Request("GET", "/before"), Deadline(20))
    either.on("/x", ENDLESS[name], good(b'"whole"'))
    assert api.send(GET, Deadline(20)) == b'"whole"'
    ended, again = either.asked("/x")
    assert (ended.connection == 1, again.connection == 2) == (True, True)


def test_a_tls_handshake_that_never_comes(tls_server: FaultServer, connect: Callable[..., Api]) -> None:
    def the_first_time(connection: socket.socket) -> None:
        tls_server.instead = None
        mute(connection)

    tls_server.instead = the_first_time
    tls_server.on("/x", good(b'"whole"'))
    assert connect(tls_server).send(GET, Deadline(20)) == b'"whole"'
    assert tls_server.connections == 2


def test_only_the_slow_request_is_ended(server: FaultServer, connect: Callable[..., Api]) -> None:
    """Each thread has its own watchdog: many requests at once, one of them endless."""
    api = connect(server, request_timeout=1)
    server.on("/good", good(b"1"))
    server.on("/x", drip(HEAD), good(b'"whole"'))
    slow = threading.Thread(target=api.send, args=(GET, Deadline(20)))
    slow.start()
    for _ in range(50):
        assert api.send(Request("GET", "/good"), Deadline(20)) == b"1"
    slow.join()
    assert (len(server.asked("/good")), len(server.asked("/x"))) == (50, 2)


def in_use() -> tuple[int, int]:
    """Threads and descriptors of this process (the server's side of each connection is among them)."""
    return threading.active_count(), len(list(Path("/dev/fd").iterdir()))


def at_rest(expected: tuple[int, int] | None = None) -> tuple[int, int]:
    """What is in use once that is as expected, or has not changed for a while; after 10 s whatever it is."""
    gc.collect()
    last, since = in_use(), time.monotonic()
    end = since + 10
    while time.monotonic() < end and last != expected and (expected or time.monotonic() < since + 0.5):
        time.sleep(0.02)
        now = in_use()
        last, since = now, since if now == last else time.monotonic()
    return last


def test_threads_and_descriptors_are_given_back(server: FaultServer, connect: Callable[..., Api]) -> None:
    """One kept-alive connection is left, as before: no timer, no duplicate of a socket."""
    api = connect(server, request_timeout=0.2)
    server.on("/good", good())
    api.send(Request("GET", "/good"), Deadline(20))
    before = at_rest()
    server.on("/x", good(), status(503), status(404), reset, good(b"{"), drip(HEAD), drip(STATUS_LINE), never(), good())
    for _ in range(50):
        with contextlib.suppress(TakaraSyncError):
            api.send(GET, Deadline(0.5))
    assert api.send(Request("GET", "/good"), Deadline(20))
    assert at_rest(before) == before


def test_credentials_read_anew_leave_nothing_behind(server: FaultServer, connect: Callable[..., Api]) -> None:
    api = connect(server)
    server.on("/x", good())
    api.send(GET, Deadline(20))
    before = at_rest()
    for _ in range(20):
        server.on("/x", status(401), good())
        api.send(GET, Deadline(20))
    assert at_rest(before) == before
