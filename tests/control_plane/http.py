"""HTTP as the harness speaks it (kept-alive connections, certificates verified, nothing retried), and kubectl."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import urllib3

from tests.server import Answer, Finished

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS = 30.0
_CONNECTIONS = 16
_KUBECTL_SECONDS = 60


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


def kubectl(program: str, kubeconfig: Path, *args: str, stdin: str | None = None) -> Finished:
    """Runs kubectl with nothing of the user's own: no settings, no proxy; its home is the folder of the kubeconfig."""
    done = subprocess.run(
        [program, f"--kubeconfig={kubeconfig}", *args],
        env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(kubeconfig.parent)},
        input=stdin or "",
        capture_output=True,
        text=True,
        timeout=_KUBECTL_SECONDS,
        check=False,
    )
    return Finished(("kubectl", *args), done.returncode, done.stdout, done.stderr)
