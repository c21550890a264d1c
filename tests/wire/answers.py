"""What a server can answer, well and badly. Each is given to `FaultServer.on`."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from tests.wire.server import Wire

if TYPE_CHECKING:
    import socket
    import threading

Answer = Callable[[Wire], None]
Json = dict[str, Any]

through: Answer = Wire.through
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
STATUS_LINE = b"HTTP/1.1 200 OK\r\nX-Slow: "
_DRIP_SECONDS = 0.05  # well below the timeout of a socket read in these tests, as a second is below the usual one


def good(body: object = None, code: int = 200, **headers: str) -> Answer:
    """JSON; underscores in header names stand for dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    raw = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
    return lambda wire: wire.answer(code, raw, {"Content-Type": "application/json"} | named)


def status(code: int, reason: str = "", message: str = "", causes: Sequence[Json] = (), **headers: str) -> Answer:
    """A Kubernetes Status with this code."""
    body: Json = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
    body |= {"reason": reason} if reason else {}
    body |= {"message": message or f"said with {code}"}
    body |= {"details": {"causes": list(causes)}} if causes else {}
    return good(body, code, **headers)


def page(kind: str, *items: object, following: str = "") -> Answer:
    """One page of a list; `following` is the token of the next."""
    return good({"kind": kind, "apiVersion": "v1", "metadata": {"continue": following}, "items": list(items)})


def html(code: int = 200) -> Answer:
    return good(b"<html><body>Please log in</body></html>", code, Content_Type="text/html")


def zipped(body: object) -> Answer:
    return good(gzip.compress(json.dumps(body).encode()), Content_Encoding="gzip")


def redirect(to: str, code: int = 302) -> Answer:
    return good(b"", code, Location=to)


def never(first: bytes = b"") -> Answer:
    """Nothing more than `first`, ever."""

    def answer(wire: Wire) -> None:
        wire.send(first)
        wire.until_gone()

    return answer


def drip(first: bytes, then: bytes = b" ") -> Answer:
    """`then`, which is a byte, now and then behind `first`, without an end."""

    def answer(wire: Wire) -> None:
        wire.send(first)
        while True:
            wire.send(then)
            time.sleep(_DRIP_SECONDS)

    return answer


def behind(first: bytes, then: Answer) -> Answer:
    """`first`, and then another answer."""

    def answer(wire: Wire) -> None:
        wire.send(first)
        then(wire)

    return answer


def in_turns(*answers: Answer) -> Answer:
    """One after the other, whatever is asked, and again from the first."""
    turns = cycle(answers)

    def answer(wire: Wire) -> None:
        next(turns)(wire)

    return answer


def cut(first: bytes = b"") -> Answer:
    """The connection is closed behind `first`."""

    def answer(wire: Wire) -> None:
        wire.send(first)
        wire.close()

    return answer


def reset(wire: Wire) -> None:
    """The connection is torn down (RST)."""
    wire.close(reset=True)


def endless(wire: Wire) -> None:
    """A body without end, as fast as it goes."""
    wire.send(HEAD.replace(b"100000", b"9" * 15))
    while True:
        wire.send(b" " * 2**16)


def cut_gzip() -> bytes:
    """The beginning of a zipped answer, and its connection ends there."""
    body = gzip.compress(json.dumps({"kind": "x", "items": list(range(9999))}).encode())
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body[: len(body) // 2]


def mute(connection: socket.socket) -> None:
    """A connection without a handshake."""
    while connection.recv(4096):
        pass


def greeting(first: bytes, then: bytes = b"") -> Callable[[socket.socket], None]:
    """A connection with this in place of a handshake; `then` now and then behind it, or it is closed."""

    def greet(connection: socket.socket) -> None:
        connection.sendall(first)
        while then:
            time.sleep(_DRIP_SECONDS)
            connection.sendall(then)

    return greet


def held(reached: threading.Event, go: threading.Event, then: Answer = through) -> Answer:
    """Says that the request is there, waits for `go`, and answers."""

    def answer(wire: Wire) -> None:
        reached.set()
        go.wait(30)
        then(wire)

    return answer
