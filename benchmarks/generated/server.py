"""Serves a generated fleet on loopback: `python -m benchmarks.generated.server --takaras 10000`.

It prints its port as its first line and ends when its stdin is closed. It keeps every page that it has made, so that a
second pass over the same fleet costs it next to nothing. It stores no write: it answers each one as a real API server
would answer the first. `GET /counts` returns what was requested and how many bytes were sent since the last `/counts`.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections import Counter
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

import msgspec

from benchmarks.generated.fleet import Fleet
from benchmarks.generated.options import fleet_parser
from benchmarks.generated.pages import Pages, response
from benchmarks.generated.recorded import load

_LISTS = {
    "/apis/apps/v1/deployments": "deployments",
    "/apis/maho.takara.org/v1alpha1/takaras": "takaras",
    "/api/v1/pods": "pods",
}
_APPLY = re.compile(r"/apis/apps/v1/namespaces/[^/]+/deployments/takara-(\d+)")
_STATUS = re.compile(r"/apis/maho\.takara\.org/v1alpha1/namespaces/[^/]+/takaras/takara-(\d+)/status")
_END = b"\r\n\r\n"
_COUNTS = "/counts"


class Served:
    """The answers, and the counts of requests by verb and of bytes."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._pages = Pages(fleet)
        self._requests: Counter[str] = Counter()
        self._sent = 0

    def answer(self, method: str, target: str, headers: bytes, body: bytes) -> bytes:
        """The bytes of the response."""
        where = urlsplit(target)
        if where.path == _COUNTS:
            counts = msgspec.json.encode({"requests": dict(self._requests), "bytes": self._sent})
            self._requests.clear()
            self._sent = 0
            return response(200, counts, gzip=False)
        verb, answered = self._answered(method, where.path, where.query, b"gzip" in headers, body)
        self._requests[verb] += 1
        self._sent += len(answered)
        return answered

    def _answered(self, method: str, path: str, query: str, gzip: bool, body: bytes) -> tuple[str, bytes]:
        if method == "GET" and (resource := _LISTS.get(path)):
            asked = parse_qs(query)
            token, limit = asked.get("continue", [""])[0], int(asked.get("limit", ["0"])[0])
            try:
                return f"list {resource}", self._pages.response(resource, token, limit, gzip=gzip)
            except KeyError:
                return f"list {resource}", _failure(410, "Expired", gzip=gzip)
        if method == "PATCH" and (found := _APPLY.fullmatch(path)):
            text = self._fleet.applied(int(found[1]))
            return "apply", response(201 if self._fleet.new else 200, text.encode(), gzip=gzip)
        if method == "PATCH" and (found := _STATUS.fullmatch(path)):
            text = self._fleet.status_written(int(found[1]), msgspec.json.decode(body))
            return "write status", response(200, text.encode(), gzip=gzip)
        if method == "POST" and path.endswith("/events"):
            return "send event", response(201, body, gzip=gzip)
        return f"{method} {path}", _failure(404, "NotFound", gzip=gzip)


def _failure(code: int, reason: str, *, gzip: bool) -> bytes:
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason, "code": code}
    return response(code, msgspec.json.encode(status), gzip=gzip)


class _Connection(asyncio.Protocol):
    """Requests of one kept-alive connection, each with a Content-Length or without a body."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._read += data
        while (end := self._read.find(_END)) >= 0:
            head = self._read[:end].lower()
            found = re.search(rb"\ncontent-length: *(\d+)", head)
            after = end + len(_END) + (int(found[1]) if found else 0)
            if len(self._read) < after:
                return
            method, target, _ = self._read[:end].split(b"\r\n", 1)[0].decode().split(" ")
            body, self._read = self._read[end + len(_END) : after], self._read[after:]
            self._transport.write(self._served.answer(method, target, head, body))


async def _serve(fleet: Fleet) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    served = Served(fleet)
    server = await loop.create_server(lambda: _Connection(served), "127.0.0.1", 0, backlog=128)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    loop.add_reader(sys.stdin.fileno(), ended.set)
    await ended.wait()
    server.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until stdin is closed."""
    given = fleet_parser("python -m benchmarks.generated.server", (__doc__ or "").partition(":")[0]).parse_args(argv)
    fleet = Fleet(load(), given.takaras, given.namespaces, given.annotations, given.cold)
    asyncio.run(_serve(fleet))
    return 0


if __name__ == "__main__":
    sys.exit(main())
