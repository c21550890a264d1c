"""Pages of a list as the real API server encodes them: each is made once and kept as the bytes of its response."""

from __future__ import annotations

import base64
import re
import zlib

import msgspec

from benchmarks.generated.fleet import Fleet, items_of

_CONTINUE = re.compile(r'"continue":"[^"]+"')
_REMAINING = re.compile(r'"remainingItemCount":\d+')
_COMPRESSED_FROM = 128 * 1024  # k8s.io/apiserver/pkg/endpoints/handlers/responsewriters: defaultGzipThresholdBytes
_BUFFER = 2048  # net/http: a body that exceeds this is sent in chunks, of this size unless a write is larger
_HEADERS = (
    "Audit-Id: 00000000-0000-4000-8000-000000000000\r\n"
    "Cache-Control: no-cache, private\r\n"
    "Content-Type: application/json\r\n"
    "X-Kubernetes-Pf-Flowschema-Uid: 00000000-0000-4000-8000-000000000001\r\n"
    "X-Kubernetes-Pf-Prioritylevel-Uid: 00000000-0000-4000-8000-000000000002\r\n"
    "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
)
_REASONS = {200: "OK", 201: "Created", 404: "Not Found", 410: "Gone"}


class Pages:
    """The responses to list requests. A continue token is valid as long as the object exists."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._starts = {"": 0}
        self._made: dict[tuple[str, str, int, bool], bytes] = {}
        self._frames = {resource: self._frames_of(resource) for resource in fleet.recording.settled}

    def response(self, resource: str, token: str, limit: int, *, gzip: bool) -> bytes:
        """The response to a list request. Raises KeyError for a token that was never given out."""
        key = (resource, token, limit, gzip)
        if key not in self._made:
            body = self._page(resource, self._starts[token], limit).encode()
            self._made[key] = response(200, body, gzip=gzip)
        return self._made[key]

    def _page(self, resource: str, start: int, limit: int) -> str:
        count = self._fleet.count(resource)
        end = min(start + limit, count) if limit else count
        items = ",".join(self._fleet.item(resource, index) for index in range(start, end))
        more, last, empty = self._frames[resource]
        if end == count:
            return f"{last[0]}{items}{last[1]}" if count else empty
        token = _token(self._fleet.key(resource, end - 1))
        self._starts[token] = end
        left = f'"remainingItemCount":{count - end}'
        head, tail = (_REMAINING.sub(left, _CONTINUE.sub(f'"continue":"{token}"', part)) for part in more)
        return f"{head}{items}{tail}"

    def _frames_of(self, resource: str) -> tuple[tuple[str, str], tuple[str, str], str]:
        """What surrounds the items of a page that is not the last, of the last one, and an empty list."""
        first, last = self._fleet.recording.settled[resource]
        empty = self._fleet.recording.new["pods" if resource == "takaras" else resource]
        return _frame(first), _frame(last), empty


def _frame(page: str) -> tuple[str, str]:
    items = items_of(page)
    return page[: page.index(items[0])], page[page.rindex(items[-1]) + len(items[-1]) :]


def _token(key: str) -> str:
    token = {"v": "meta.k8s.io/v1", "rv": 20_000_000, "start": f"/{key}\0"}
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def response(status: int, body: bytes, *, gzip: bool) -> bytes:
    """The bytes of a whole response: compressed, with a length or in chunks like those of a real API server."""
    head = f"HTTP/1.1 {status} {_REASONS[status]}\r\n{_HEADERS}"
    if len(body) <= _BUFFER:
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    chunk = _BUFFER
    if gzip and len(body) > _COMPRESSED_FROM:
        head += "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"
        body = zlib.compress(body, 1, wbits=31)
    elif gzip:
        chunk = len(body)  # the server collects the whole body to see whether to compress it, and writes it at once
    parts = [f"{head}Transfer-Encoding: chunked\r\n\r\n".encode()]
    for at in range(0, len(body), chunk):
        piece = body[at : at + chunk]
        parts += (b"%x\r\n" % len(piece), piece, b"\r\n")
    return b"".join([*parts, b"0\r\n\r\n"])
