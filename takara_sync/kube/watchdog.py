"""The end of a request that never ends.

Socket timeouts start anew with every byte, so a server that sends one byte a second is never too slow for
them. The watchdog shuts the connection down when the whole request has taken too long; whoever reads from it
then sees it closed.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from types import TracebackType
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

_current = threading.local()


class Watchdog:
    """Shuts down the connections that this thread uses within the block once `seconds` are over.

    It holds a descriptor of its own for each socket: the connection may be handed on, wrapped in TLS, or
    dropped by http.client while its body is still being read, and the shutdown reaches it all the same.
    """

    def __init__(self, seconds: float) -> None:
        self.bitten = False
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(max(0.0, min(seconds, threading.TIMEOUT_MAX)), self._bite)
        self._timer.daemon = True

    def __enter__(self) -> Watchdog:
        _current.watchdog = self
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.watchdog = None
        self._timer.cancel()
        with self._lock:
            while self._sockets:
                self._sockets.pop().close()

    def note(self, connection: socket.socket) -> None:
        with self._lock:
            self._sockets.append(socket.socket(fileno=os.dup(connection.fileno())))
            if self.bitten:
                self._shut()

    def _bite(self) -> None:
        with self._lock:
            self.bitten = True
            self._shut()

    def _shut(self) -> None:
        for each in self._sockets:
            with contextlib.suppress(OSError):  # closed by the server meanwhile
                each.shutdown(socket.SHUT_RDWR)


def _note(connection: socket.socket | None) -> None:
    watchdog: Watchdog | None = getattr(_current, "watchdog", None)
    if watchdog is not None and connection is not None:
        watchdog.note(connection)


class _Noted(HTTPConnection):
    """A connection that shows its socket to the watchdog, new or used again."""

    def _new_conn(self) -> socket.socket:
        connection = super()._new_conn()
        _note(connection)
        return connection

    def request(self, *args: Any, **options: Any) -> None:
        _note(self.sock)
        super().request(*args, **options)


class _NotedTLS(_Noted, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Noted


class _PoolTLS(HTTPSConnectionPool):
    ConnectionCls = _NotedTLS


POOLS = {"http": _Pool, "https": _PoolTLS}
"""For `PoolManager.pool_classes_by_scheme`."""
