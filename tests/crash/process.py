"""One run of the tool that can be stopped at any of its requests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from takara_sync.errors import Retryable
from takara_sync.kube.response import Request, Response
from tests.support.transport import is_aside
from tests.world import Json


class Killed(BaseException):
    """The process is gone: nothing in it runs again, so nothing may catch this."""


class Kind(StrEnum):
    """What happens at a request."""

    BEFORE = "killed before the request"
    LOST = "killed when the request was executed, before its response"
    LATE = "killed before the request, which the server executes when everything else is over"
    ALIVE = "the response is lost, and the process lives on"


KILLS = (Kind.BEFORE, Kind.LOST)
"""A kill after a response leaves the same cluster as one before the next request, so it is no kind of its own."""


class Point(NamedTuple):
    """A request by its number in the pass, and what happens there."""

    number: int
    kind: Kind


@dataclass(frozen=True)
class Call:
    """A request of the tool, and whether the server executed it (False: refused; None: it never came)."""

    request: Request
    good: bool | None

    @property
    def writes(self) -> bool:
        return self.request.writes

    @property
    def arrived(self) -> bool:
        return self.good is not None

    @property
    def takara(self) -> str:
        """The name in a path of the form .../namespaces/<namespace>/<resource>/<name>[/status]."""
        return self.request.path.partition("/namespaces/")[2].split("/")[2]

    @property
    def is_status(self) -> bool:
        return self.request.path.endswith("/status")

    def __str__(self) -> str:
        """In words that are the same in each namespace."""
        return f"{self.request.method} {self.request.path.partition('/namespaces/')[2].partition('/')[2]}"


@dataclass
class Process:
    """Counts the requests of one pass; at `point` happens what it says. late: sends the request that came too late.

    changed: the Deployments whose spec this pass changed on the simulator, each with the spec before and after.
    """

    point: Point | None = None
    calls: list[Call] = field(default_factory=list)
    changed: list[tuple[str, Json, Json]] = field(default_factory=list)
    dead: bool = False
    late: Callable[[], object] | None = None
    _lock: Any = field(default_factory=threading.RLock)

    def around(self, request: Request, send: Callable[[], Response]) -> Response:
        """A hook of tests.support.transport: one request at a time, and none after the kill.

        Events, and looks at pods, are no requests to be stopped at: `tests/unit` shows that nothing depends on them.
        """
        with self._lock:
            if is_aside(request) and not self.dead:
                return send()
            kind = self.point.kind if self.point and self.point.number == len(self.calls) else None
            if self.dead or kind in (Kind.BEFORE, Kind.LATE):
                self._die(Call(request, None), send if kind == Kind.LATE else None)
            response = send()
            call = Call(request, response.status < 300)
            if kind == Kind.LOST:
                self._die(call, None)
            self.calls.append(call)
            if kind == Kind.ALIVE:
                raise Retryable(f"{request} failed: connection reset")
            return response

    def _die(self, call: Call, late: Callable[[], object] | None) -> None:
        if not self.dead:
            self.calls.append(call)
            self.dead, self.late = True, late
        raise Killed

    @property
    def writes(self) -> list[Call]:
        """The writes that came to the server, in their order."""
        return [call for call in self.calls if call.writes and call.arrived]

    @property
    def unrecorded(self) -> frozenset[str]:
        """The Takaras of which this pass cannot have recorded whose replicas it took back: it was killed between the
        write to the Deployment and the status, or did not see the response of that write."""
        if self.point and self.point.kind == Kind.ALIVE:
            lost = self.calls[self.point.number : self.point.number + 1]
            return frozenset(call.takara for call in lost if call.writes and not call.is_status)
        recorded = {call.takara: call.is_status for call in self.writes if call.good}
        return frozenset(name for name, done in recorded.items() if not done)
