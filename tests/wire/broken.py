"""Wires that break: answers without an end, connections cut in every place, handshakes and tunnels that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.wire.answers import (
    HEAD,
    STATUS_LINE,
    behind,
    cut,
    cut_gzip,
    drip,
    greeting,
    html,
    in_turns,
    mute,
    never,
    reset,
    status,
)
from tests.wire.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.wire.answers import Answer
    from tests.wire.cells import FaultyServer

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_BODY = b'{"kind":"Takara'

_CUTS: dict[str, Answer] = {
    "reset before the headers": reset,
    "reset behind the headers": behind(HEAD, reset),
    "closed without a word": cut(),
    "cut in the status line": cut(b"HTTP/1.1 20"),
    "cut inside a header": cut(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "cut before the body": cut(HEAD),
    "cut inside the body": cut(HEAD + _BODY),
    "cut inside a gzip stream": cut(cut_gzip()),
    "cut in the size of a chunk": cut(CHUNKED + b"1\r\n{\r\n5"),
    "cut in a chunk": cut(CHUNKED + b"5\r\n{"),
    "without the last chunk": cut(CHUNKED + b"2\r\n{}\r\n"),
    "the size of a chunk is no number": cut(CHUNKED + b"many\r\n{}\r\n0\r\n\r\n"),
    "two lengths": cut(HEAD.replace(b"100000", b"2, 5") + b"{}   "),
    "no HTTP at all": cut(b"\x15\x03\x01 what?\r\n\r\n"),
    "a header that is too long": cut(STATUS_LINE + b"x" * 2**17 + b"\r\n\r\n"),
    "too many headers": cut(HEAD[:-2] + b"X-A: 1\r\n" * 500 + b"\r\n"),
    "103 Early Hints and no more": cut(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
}

_LATE: dict[str, Answer] = {
    "never answers": never(),
    "stops in the status line": never(b"HTTP/1."),
    "stops in a header": never(STATUS_LINE),
    "stops before the body": never(HEAD),
    "stops in the body": never(HEAD + _BODY),
    "stops in a gzip stream": never(cut_gzip()),
    "a byte now and then of a header": drip(STATUS_LINE),
    "a byte now and then of the body": drip(HEAD),
    "a byte now and then of a chunk": drip(CHUNKED + b"5000\r\n"),
    "a byte now and then of the size of a chunk": drip(CHUNKED),
    "a byte now and then, without a length": drip(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
    "100 Continue without end": drip(b"", CONTINUE),
}


def _instead(greet: Callable[..., None]) -> Callable[[FaultyServer], None]:
    """From then on, this in place of each handshake."""

    def turn(server: FaultyServer) -> None:
        server.instead = greet

    return turn


def _shown(name: str) -> Callable[[FaultyServer], None]:
    """From then on, this certificate."""

    def turn(server: FaultyServer) -> None:
        server.tls = server.certificates[name]

    return turn


def _tunnel(answer: Answer) -> Callable[[FaultyServer], None]:
    """From then on, this answer of the proxy's own where a tunnel is asked for."""
    return lambda server: server.on("*", answer, method="CONNECT")


_TURNS: dict[str, Fault] = {
    "no handshake comes": Fault(reset, "late", turn=_instead(mute), wire="tls"),
    "a handshake of a byte now and then": Fault(
        reset, "late", turn=_instead(greeting(b"\x16\x03\x03\x40\x00", b"\x02")), wire="tls"
    ),
    "plain text in place of TLS": Fault(
        reset, turn=_instead(greeting(b"HTTP/1.1 400 No TLS here\r\n\r\n")), wire="tls"
    ),
    "closed in place of a handshake": Fault(reset, turn=_instead(greeting(b"")), wire="tls"),
    "an expired certificate": Fault(reset, "stopped", turn=_shown("expired"), wire="tls"),
    "the certificate of another server": Fault(reset, "stopped", turn=_shown("elsewhere"), wire="tls"),
    "nobody listens any more": Fault(reset, "late", turn=lambda server: server.vanish()),
    "the proxy asks for a password": Fault(reset, turn=_tunnel(html(407)), wire="proxy"),
    "the proxy finds no server": Fault(reset, turn=_tunnel(html(502)), wire="proxy"),
    "the proxy answers the tunnel itself": Fault(reset, turn=_tunnel(html(200)), wire="proxy"),
    "the proxy answers the tunnel with a byte now and then": Fault(
        reset, "late", turn=_tunnel(drip(STATUS_LINE)), wire="proxy"
    ),
}

_STORMS: dict[str, Answer] = {
    "a storm of 429": status(429, "TooManyRequests"),
    "a storm of 5xx": in_turns(*(status(code, "Whatever") for code in (503, 500, 502, 504))),
    "a storm of resets": reset,
    "a storm of everything": in_turns(reset, status(429), cut(HEAD), html(502), cut(cut_gzip())),
}

BROKEN: dict[str, Fault] = {
    **{name: Fault(answer, breaks=True) for name, answer in _CUTS.items()},
    **{name: Fault(answer, "late", breaks=True) for name, answer in _LATE.items()},
    **{name: Fault(answer, storm=True) for name, answer in _STORMS.items()},
    **_TURNS,
}
