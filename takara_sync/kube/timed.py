"""A time limit for a complete response.

The timeout of a socket starts again with every byte, so a server that sends one byte per second would never time out.
These connections use the rest of the request timeout for each read, for headers and body together.
"""

from __future__ import annotations

import io
import socket
import time
from http.client import HTTPResponse
from typing import Any

from urllib3 import HTTPConnectionPool, PoolManager
from urllib3.connection import HTTPConnection

_BUFFER = 2**16  # bytes; with the 8 KiB of http.client, a page of a large list takes eight times as many reads


class _TimedReader(io.RawIOBase):
    """Reads from a socket. Its timeout, from now, is for all reads together."""

    def __init__(self, reader: Any, connection: socket.socket) -> None:
        self._reader = reader
        self._connection = connection
        seconds = connection.gettimeout()
        self._end = time.monotonic() + (float("inf") if seconds is None else seconds)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the response is too slow")
        if left != float("inf"):
            self._connection.settimeout(left)
        count: int | None = self._reader.readinto(buffer)
        return count

    def close(self) -> None:
        self._reader.close()
        super().close()


class _TimedResponse(HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_TimedReader(self.fp.detach(), sock), _BUFFER)


class _Timed(HTTPConnection):
    response_class = _TimedResponse  # also for the response of a proxy to CONNECT


def timed(pools: PoolManager) -> None:
    """Give the connections of `pools` a time limit for a complete response, also through a proxy."""
    classes = pools.pool_classes_by_scheme
    pools.pool_classes_by_scheme = {scheme: _timed(pool) for scheme, pool in classes.items()}


def _timed(pool: type[HTTPConnectionPool]) -> type[HTTPConnectionPool]:
    connection = type("Timed", (_Timed, pool.ConnectionCls), {})
    return type("Pool", (pool,), {"ConnectionCls": connection})
