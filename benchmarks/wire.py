"""Counts the bytes between a contestant and the API server: a forwarder that does not look into TLS."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from tests.server import User

_CHUNK = 256 * 1024


class Meter:
    """Forwards a port of its own to the API server at `url`, until the end of the `with` statement.

    received, sent: the bytes that contestants received and sent so far, with TLS and HTTP headers.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.received = self.sent = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop
        ).result()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def kubeconfig(self, user: User) -> Path:
        """The kubeconfig of the user, through this meter."""
        port = self._server.sockets[0].getsockname()[1]
        path = user.kubeconfig.with_stem(f"{user.kubeconfig.stem}-metered")
        path.write_text(user.kubeconfig.read_text().replace(self._url, f"https://127.0.0.1:{port}"))
        path.chmod(0o600)
        return path

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = urlsplit(self._url)
        from_server, to_server = await asyncio.open_connection(address.hostname, address.port)
        await asyncio.gather(self._copy(reader, to_server, "sent"), self._copy(from_server, writer, "received"))

    async def _copy(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, count: str) -> None:
        try:
            while chunk := await source.read(_CHUNK):
                setattr(self, count, getattr(self, count) + len(chunk))
                target.write(chunk)
                await target.drain()
        except ConnectionError:
            pass  # the contestant ended without closing its connection
        finally:
            target.close()
