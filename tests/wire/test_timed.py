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

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from takara_sync.kube.api import Api
    from tests.wire.answers import Answer
    from tests.wire.server import FaultServer, Wire

GET = Request("GET", "/x")


@pytest.mark.parametrize("endless", [never(), drip(STATUS_LINE), drip(HEAD)], ids=["never", "header", "body"])
def test_a_tls_connection_that_is_slow_is_ended(
    tls_server: FaultServer, connect: Callable[..., Api], endless: Answer
) -> None:
    """One that was used before; the next try has another. Over plain HTTP and for all other faults: test_every_call."""
    api = connect(tls_server)
    tls_server.on("/before", good())
    api.send(Request("GET", "/before"), Deadline(20))
    tls_server.on("/x", endless, good(b'"whole"'))
    assert api.send(GET, Deadline(20)) == b'"whole"'
    assert [one.connection for one in tls_server.asked("/x")] == [1, 2]


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
