"""Counts requests to the API server by method and status code. Who does not ask for it does not pay for it."""

from __future__ import annotations

import threading
from collections import Counter

from takara_sync.deadline import Deadline
from takara_sync.kube.response import Request, Response
from takara_sync.kube.transport import Transport

NO_RESPONSE = "none"
"""Instead of a status code: refused, reset, truncated or too slow."""


class RequestCounts:
    """The requests of any number of transports. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = Counter[tuple[str, str]]()

    def around(self, transport: Transport) -> Transport:
        """The transport, with each of its requests counted."""
        return _Counted(transport, self)

    def add(self, method: str, code: str) -> None:
        with self._lock:
            self._counts[method, code] += 1

    def take(self) -> Counter[tuple[str, str]]:
        """The counts since the last call, by method and status code."""
        with self._lock:
            taken, self._counts = self._counts, Counter()
        return taken


class _Counted:
    def __init__(self, transport: Transport, counts: RequestCounts) -> None:
        self._transport, self._counts = transport, counts

    def prepare(self, deadline: Deadline) -> None:
        self._transport.prepare(deadline)

    def close(self) -> None:
        self._transport.close()

    def send(self, request: Request, seconds: float) -> Response:
        code = NO_RESPONSE
        try:
            response = self._transport.send(request, seconds)
            code = str(response.status)
            return response
        finally:
            self._counts.add(request.method, code)
