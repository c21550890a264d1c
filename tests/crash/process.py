"""One run of the tool that can be stopped at any of its calls."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from takara_sync import KubeCluster
from takara_sync.errors import Unavailable
from takara_sync.kube.answers import Again, Answer, Request, judge
from takara_sync.kube.api import Api

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubernetes.client import ApiClient

    from takara_sync.cluster import Deadline


class Killed(BaseException):
    """The process is gone: nothing in it gets to run again, so nothing may catch this."""


class Kind(StrEnum):
    """What happens at a call."""

    BEFORE = "stopped before"
    AFTER = "stopped after"
    LOST = "stopped when it was done, without the answer"
    LATE = "stopped before, and done when all is over"
    ALIVE = "answer lost"


STOPS = (Kind.BEFORE, Kind.AFTER, Kind.LOST)


class Point(NamedTuple):
    """A call by its number in the pass, and what happens there."""

    number: int
    kind: Kind


@dataclass(frozen=True)
class Call:
    """A request of the tool, and whether the server has carried it out or refused it: None where it never came."""

    request: Request
    good: bool | None

    @property
    def writes(self) -> bool:
        return self.request.method != "GET"

    @property
    def arrived(self) -> bool:
        return self.good is not None

    @property
    def takara(self) -> str:
        """The name in a path of the form .../namespaces/<namespace>/<resource>/<name>[/status]."""
        return self.request.path.partition("/namespaces/")[2].split("/")[2]

    @property
    def tells(self) -> bool:
        return self.request.path.endswith("/status")

    def __str__(self) -> str:
        """In words that are the same in each namespace."""
        return f"{self.request.method} {self.request.path.partition('/namespaces/')[2].partition('/')[2]}"


@dataclass
class Process:
    """Counts the calls of one pass; at `point` happens what it says."""

    point: Point | None = None
    calls: list[Call] = field(default_factory=list)
    dead: bool = False
    late: Request | None = None
    _lock: Any = field(default_factory=threading.RLock)

    def call(self, request: Request, send: Callable[[], bytes]) -> bytes:
        """`send`, one at a time; after the stop no thread of the process gets through any more."""
        with self._lock:
            if self.dead:
                raise Killed
            kind = self.point.kind if self.point and self.point.number == len(self.calls) else None
            self.dead = kind is not None and kind != Kind.ALIVE
            if kind in (Kind.BEFORE, Kind.LATE):
                self.calls.append(Call(request, None))
                self.late = request
                raise Killed
            answer = self._sent(request, send)
            if kind == Kind.LOST:
                raise Killed
            if kind == Kind.ALIVE:
                raise Again(Unavailable(f"{request} failed: connection reset"))
            if isinstance(answer, Exception):
                raise answer
            return answer

    def _sent(self, request: Request, send: Callable[[], bytes]) -> bytes | Exception:
        answer: bytes | Exception
        try:
            answer = send()
        except Exception as refusal:  # noqa: BLE001 - it is raised again, unless it gets lost
            answer = refusal
        self.calls.append(Call(request, not isinstance(answer, Exception)))
        return answer

    @property
    def writes(self) -> list[Call]:
        """The writes that came to the server, in their order."""
        return [call for call in self.calls if call.writes and call.arrived]

    @property
    def untold(self) -> frozenset[str]:
        """The Takaras whose Deployment was written, but of which nothing was told after that."""
        told: dict[str, bool] = {}
        for call in self.writes:
            if call.good:
                told[call.takara] = call.tells
        return frozenset(name for name, done in told.items() if not done)


class Direct(Api):
    """The product's own tries and retries, with a function in the place of the wire."""

    def __init__(self, process: Process, answer: Callable[[Request], Answer]) -> None:
        self._process, self._answer = process, answer
        self._client = cast("ApiClient", None)  # there is no connection

    def _try(self, request: Request, deadline: Deadline) -> bytes:
        deadline.check()
        return self._process.call(request, lambda: judge(request, self._answer(request)))


class Wired(Api):
    """The product's own connection, of which each try can be the last."""

    process: Process

    def _try(self, request: Request, deadline: Deadline) -> bytes:
        return self.process.call(request, lambda: super(Wired, self)._try(request, deadline))


def over_the_wire(kubeconfig: str, process: Process, namespace: str) -> KubeCluster:
    """A cluster as a process with this kubeconfig would see it."""
    api = Wired.connect(kubeconfig)
    assert isinstance(api, Wired)
    api.process = process
    return KubeCluster(api, namespaces=[namespace])
