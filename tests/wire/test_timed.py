"""The timeout of a request is for all of it: a server that sends a byte now and then does not extend it."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from takara_sync.deadline import Deadline
from takara_sync.errors import TakaraSyncError
from takara_sync.kube.response import Request
from tests.wire.answers import HEAD, STATUS_LINE, drip, good, greeting, mute, never, reset, status
from tests.wire.broken import BROKEN

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from takara_sync.kube.api import Api
    from tests.wire.server import FaultServer, Wire

GET = Request("GET", "/x")
ENDLESS = {name: fault.answer for name, fault in BROKEN.items() if fault.ends == "late" and fault.breaks}


@pytest.fixture(params=["http", "tls"])
def either(request: pytest.FixtureRequest) -> FaultServer:
    found: FaultServer = request.getfixturevalue("server" if request.param == "http" else "tls_server")
    return found


@pytest.mark.parametrize("name", ENDLESS)
def test_it_is_ended_and_asked_for_again(either: FaultServer, connect: Callable[..., Api], name: str) -> None:
    """On a new connection with HTTP, on one that was used before with TLS."""
    api = connect(either)
    if either.tls:
        either.on("/before", good())
        api.send(Request("GET", "/before"), Deadline(20))
    either.on("/x", ENDLESS[name], good(b'"whole"'))
    assert api.send(GET, Deadline(20)) == b'"whole"'
    ended, again = either.asked("/x")
    assert (ended.connection, again.connection) == (1, 2)


@pytest.mark.parametrize("instead", [mute, greeting(b"\x16\x03\x03\x40\x00", b"\x02")], ids=["never comes", "drips"])
def test_a_tls_handshake_without_an_end(
    tls_server: FaultServer, connect: Callable[..., Api], instead: Callable[[socket.socket], None]
) -> None:
    def the_first_time(connection: socket.socket) -> None:
        tls_server.instead = None
        instead(connection)

    tls_server.instead = the_first_time
    tls_server.on("/x", good(b'"whole"'))
    assert connect(tls_server).send(GET, Deadline(20)) == b'"whole"'
    assert tls_server.connections == 2


def test_only_the_slow_request_is_ended(server: FaultServer, connect: Callable[..., Api]) -> None:
    """Many requests at once, one of them endless."""
    api = connect(server, request_timeout=1)
    server.on("/good", good(b"1"))
    server.on("/x", drip(HEAD), good(b'"whole"'))
    slow = threading.Thread(target=api.send, args=(GET, Deadline(20)))
    slow.start()
    for _ in range(50):
        assert api.send(Request("GET", "/good"), Deadline(20)) == b"1"
    slow.join()
    assert (len(server.asked("/good")), len(server.asked("/x"))) == (50, 2)


def test_no_request_has_a_thread_of_its_own(server: FaultServer, api: Api) -> None:
    before, during = set(threading.enumerate()), set[threading.Thread]()

    def answer(wire: Wire) -> None:
        during.update(set(threading.enumerate()) - before - {threading.current_thread()})
        good()(wire)

    server.on("/x", answer)
    api.send(GET, Deadline(20))
    assert during == set()


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
