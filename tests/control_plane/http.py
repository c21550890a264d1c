"""HTTP as the harness speaks it: kept-alive connections, certificates verified, nothing retried."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import urllib3

from tests.server import Answer

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS = 30.0
_CONNECTIONS = 16


class Http:
    """One server on loopback; thread-safe."""

    def __init__(self, url: str, authority: Path | None = None) -> None:
        self._url = url
        self._pool = urllib3.PoolManager(
            maxsize=_CONNECTIONS,
            timeout=_SECONDS,
            retries=False,
            cert_reqs="CERT_REQUIRED",
            ca_certs=None if authority is None else str(authority),
        )

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """Sends text and bytes as they are, everything else as JSON. Raises urllib3's HTTPError."""
        raw = body if body is None or isinstance(body, str | bytes) else json.dumps(body)
        answer = self._pool.request(method, self._url + path, body=raw, headers=headers)
        return Answer(answer.status, _body(answer), answer.headers)

    def close(self) -> None:
        """Closes the connections."""
        self._pool.clear()


def _body(answer: urllib3.BaseHTTPResponse) -> Any:
    if "json" in answer.headers.get("Content-Type", "") and answer.data:
        return json.loads(answer.data)
    return answer.data.decode(errors="replace")
