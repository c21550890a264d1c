"""Whole answers that are wrong: statuses, redirects, pages of a proxy, other objects, too much; and odd good ones."""

from __future__ import annotations

import gzip
import time
from email.utils import formatdate
from typing import TYPE_CHECKING

from tests.wire.answers import behind, endless, good, html, page, redirect, status, through, zipped
from tests.wire.broken import CHUNKED, CONTINUE
from tests.wire.fault import CONFLICTS, EXPIRES, ONCE, Fault
from tests.wire.forked import LIMIT

if TYPE_CHECKING:
    from tests.wire.answers import Answer
    from tests.wire.server import Wire

_HOUR = formatdate(time.time() + 3600, usegmt=True)
_ENDLESS_308 = b"HTTP/1.1 308 No\r\nLocation: /\r\nContent-Length: 9999999999\r\n\r\n"

_AGAIN: dict[str, Answer] = {
    **{str(code): status(code, "Whatever") for code in (408, 429, 500, 502, 503, 504)},
    "429 with a nonsensical Retry-After": status(429, Retry_After="as soon as you like"),
    "503 with a nonsensical Retry-After": status(503, Retry_After="-1e9"),
    "503 with a Retry-After of long ago": status(503, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
    "a proxy's 502": html(502),
    "a proxy's 503": html(503),
    "no gzip although it says so": good(b"hello", Content_Encoding="gzip"),
}


def _to_itself(wire: Wire) -> None:
    redirect(wire.asked.path)(wire)


def _elsewhere(wire: Wire) -> None:
    redirect(f"{wire.handler.server.faults.elsewhere}{wire.asked.path}", 307)(wire)


_BEYOND: dict[str, Answer] = {
    "429 with a Retry-After of an hour": status(429, Retry_After="3600"),
    "503 with a Retry-After of an hour": status(503, Retry_After="3600"),
    "503 with a Retry-After of an hour, as a date": status(503, Retry_After=_HOUR),
    "503 with a Retry-After without measure": status(503, Retry_After="9" * 40),
    "a proxy's 404": html(404),
    "404 page not found": good(b"404 page not found\n", 404, Content_Type="text/plain"),
    "308 and a body without end": behind(_ENDLESS_308, endless),
    "a body without end": endless,
    "a gzip bomb": zipped("x" * LIMIT * 8),
    "an answer nested 100,000 times": good(b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
}

_REFUSED: dict[str, Answer] = {
    "400": status(400, "BadRequest"),
    "403": status(403, "Forbidden"),
    "501": status(501, "NotImplemented"),
    "a proxy's 403": html(403),
    "a proxy's 407": html(407),
    "301 to nowhere": redirect("http://[broken", 301),
    "302 to itself": _to_itself,
    "307 to another server": _elsewhere,
}


def _another(wire: Wire) -> None:
    """An object of the kind that was asked for, but not the one."""
    kind = "Deployment" if "/deployments/" in wire.asked.path else "Takara"
    good({"kind": kind, "metadata": {"name": "another", "namespace": "default", "uid": "u"}, "spec": {"size": 1}})(wire)


def _two_bodies(wire: Wire) -> None:
    """A length that is too small: what is left over must not become the next answer."""
    wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n" + b'{"kind":"Deployment","metadata":{}}')


_STOPS: dict[str, Answer] = {
    "HTML with 200": html(),
    "HTML that calls itself JSON": good(b"<html></html>"),
    "a list of another kind": page("SecretList", {"metadata": {"name": "x"}}),
    "an object of another kind": good({"kind": "Secret", "metadata": {"name": "x"}}),
    "another object of the kind": _another,
    "no kind": good({"metadata": {}, "items": []}),
    "an array": good([]),
    "an array nested 100,000 times": good(b"[" * 100_000 + b"]" * 100_000),
    "null": good(b"null"),
    "a number": good(b"7"),
    "a text": good(b'"ok"'),
    "UTF-16": good('{"kind":"TakaraList"}'.encode("utf-16")),
    "half a JSON": good(b'{"kind":"TakaraList","items":[{"me'),
    "an empty answer": good(b""),
    "202 and nothing": good(b"", 202),
    "204": good(b"", 204),
}


def _two_at_once(wire: Wire) -> None:
    """The right answer, and behind it one that nobody asked for: it must not become the next one's."""
    answer, body = wire.done(), b'{"kind":"TakaraList","metadata":{},"items":[]}'
    stray = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    wire.answer(answer.status, answer.body + stray, dict(answer.headers) | {"Content-Length": str(len(answer.body))})


def _in_chunks(wire: Wire) -> None:
    """The right answer zipped, in chunks of seven bytes, and with a trailer. A refusal comes as it is."""
    answer = wire.done()
    if answer.status >= 300:
        wire.answer(answer.status, answer.body, dict(answer.headers))
        return
    raw = gzip.compress(answer.body)
    parts = (raw[at : at + 7] for at in range(0, len(raw), 7))
    wire.send(CHUNKED[:-2] + b"Content-Encoding: gzip\r\n\r\n")
    wire.send(b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\nX-Trailer: 1\r\n\r\n")


_WELL: dict[str, Answer] = {
    "100 Continue first": behind(CONTINUE, through),
    "100 Continue a hundred times": behind(CONTINUE * 100, through),
    "a second answer behind the first": _two_at_once,
    "zipped, in chunks, with a trailer": _in_chunks,
}

WRONG: dict[str, Fault] = {
    **{name: Fault(answer) for name, answer in _AGAIN.items()},
    **{name: Fault(answer, tries=ONCE) for name, answer in (_BEYOND | _REFUSED).items()},
    **{name: Fault(answer, "stopped", ONCE) for name, answer in _STOPS.items()},
    **{name: Fault(answer, "well") for name, answer in _WELL.items()},
    "a length that is too small": Fault(_two_bodies, "stopped", ONCE),
    "500 without a reason": Fault(status(500)),
    "401": Fault(status(401, "Unauthorized"), "stopped", ONCE),
    "409": Fault(status(409, "Conflict"), tries=CONFLICTS),
    "410": Fault(status(410, "Expired"), tries=EXPIRES),
}
