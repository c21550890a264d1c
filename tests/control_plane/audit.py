"""What each user sent, read from the API server's audit log."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from tests.control_plane.users import CONTROLLER_MANAGER, HARNESS
from tests.server import Request

if TYPE_CHECKING:
    from pathlib import Path

# A watch is told when it starts too: its end comes only some time after its client has gone.
_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "users": [HARNESS, CONTROLLER_MANAGER, "system:apiserver"]},
        {"level": "Metadata"},
    ],
}


class AuditLog:
    """The log of one API server; thread-safe.

    It is written in blocking mode: the line is in the file before the end of the answer is on the wire.
    """

    def __init__(self, folder: Path) -> None:
        self._policy = folder / "audit-policy.json"
        self._log = folder / "audit.log"
        self._policy.write_text(json.dumps(_POLICY))
        self._lock = threading.Lock()
        self._read = 0
        self._events: dict[str, dict[str, Any]] = {}  # by id: the last stage of a request wins

    @property
    def flags(self) -> list[str]:
        """The API server's flags that make it write this log, never rotated."""
        return [
            f"--audit-policy-file={self._policy}",
            f"--audit-log-path={self._log}",
            "--audit-log-mode=blocking",
            "--audit-log-maxsize=0",
        ]

    def of(self, user: str) -> list[Request]:
        """The user's requests, in the order in which they came in."""
        with self._lock:
            self._catch_up()
            events = [event for event in self._events.values() if event["user"].get("username") == user]
        return [_request(event) for event in sorted(events, key=_received)]

    def _catch_up(self) -> None:
        if not self._log.exists():  # it is made with its first line
            return
        with self._log.open("rb") as log:
            log.seek(self._read)
            for line in log:
                if not line.endswith(b"\n"):  # being written at this moment, so nobody has its answer yet
                    break
                self._read += len(line)
                event = json.loads(line)
                self._events[event["auditID"]] = event


def _received(event: dict[str, Any]) -> str:
    return str(event["requestReceivedTimestamp"])  # UTC with a fixed number of digits: sorts as text


def _request(event: dict[str, Any]) -> Request:
    target = event.get("objectRef", {})
    return Request(
        verb=event["verb"],
        uri=event["requestURI"],
        code=event.get("responseStatus", {}).get("code", 0),
        user_agent=event.get("userAgent", ""),
        resource=target.get("resource", ""),
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        dry_run="dryRun" in parse_qs(urlsplit(event["requestURI"]).query),
        received=_received(event),
        answered=event["stageTimestamp"],
    )
