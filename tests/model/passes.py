"""A pass of the real code that can be killed, cut off, shown the past, or stopped in the middle while others act."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from unittest.mock import patch

from takara_sync.deadline import Deadline
from takara_sync.desired import Manifest, deployment_for
from takara_sync.errors import Retryable
from takara_sync.kube.api import Api
from takara_sync.kube.cluster import KubeCluster
from takara_sync.kube.response import Request, Response
from takara_sync.objects import Takara
from takara_sync.plan import Policy
from takara_sync.report import Report
from takara_sync.sync import sync_once
from tests.model.backends import Backend
from tests.model.oracle import Program
from tests.model.requests import Sent
from tests.model.sight import Sight
from tests.support.transport import is_aside

if TYPE_CHECKING:  # it imports this module
    from tests.model.law import Law

PATIENCE = 60.0  # seconds that a stopped pass may take to its next request; only a broken one takes them


class Killed(BaseException):
    """The process is gone."""


@dataclass(frozen=True)
class Fault:
    """What happens at the `at`-th request of a pass, counted from 1: `killed before`, `killed after`, `response lost`,
    `stopped`; from there on: `outage`; at every list of them: `no pods`."""

    kind: str = ""
    at: int = 0


@dataclass(frozen=True)
class Stale:
    """Lists of this kind show how things were so many steps ago."""

    plural: str = ""
    steps: int = 0


class Pass:
    """One pass, and its transport: `run` does it whole; `go` some requests of it."""

    def __init__(
        self,
        backend: Backend,
        law: Law,
        now: Callable[[], datetime],
        program: Program,
        fault: Fault = Fault(),
        stale: Stale = Stale(),
    ) -> None:
        self._backend, self._law, self._now = backend, law, now
        self.program, self._fault, self._stale = program, fault, stale
        self.sight = Sight()
        self.begun = now()
        self.report: Report | None = None
        self.bug: BaseException | None = None
        self.writes: list[Sent] = []
        self.changed: set[str] = set()  # whose Deployment it asked to be another one, where that is limited
        self.over = False
        self._sent = 0
        self._dead = False
        self._left: int | None = None  # requests until the next stop; None: no stop
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._thread: threading.Thread | None = None
        self._deadline = Deadline(50, lambda: 0.0)

    # -------------------------------------------------------------- running

    def run(self) -> None:
        """From here to its end."""
        if self._thread is None:
            with speaking(self.program):
                self._work()
        else:
            self.go(None)

    def go(self, requests: int | None) -> None:
        """So many requests further, or to its end."""
        self._left = requests
        with speaking(self.program):
            if self._thread is None:
                self._thread = threading.Thread(target=self._in_thread, daemon=True)
                self._thread.start()
            else:
                self._go.release()
            assert self._stopped.acquire(timeout=PATIENCE), "the pass does not come to its next request"
        if self.over:
            self._thread.join()

    def kill(self) -> None:
        """The process ends where it stands."""
        self._dead = True
        self.run()

    def _in_thread(self) -> None:
        try:
            self._work()
        finally:
            self._stopped.release()

    def _work(self) -> None:
        try:
            cluster = KubeCluster(Api(self), namespaces=[self._backend.namespace])
            policy = _policy(self.program)
            self.report = sync_once(cluster, policy, workers=1, seconds=self._deadline, now=self._now)
        except Killed:
            pass
        except Exception as bug:  # noqa: BLE001 - the machine reports it
            self.bug = bug
        finally:
            self.over = True

    # -------------------------------------------------------------- the wire

    def prepare(self, deadline: Deadline) -> None:
        """There are no credentials to wait for."""

    def close(self) -> None:
        """There is no connection."""

    def send(self, request: Request, seconds: float) -> Response:  # noqa: ARG002 - no request takes any time
        if is_aside(request):
            self._die_if(killed=False)
            return self._backend.send(Sent.of(request))
        if self._left == 0:
            self._stopped.release()
            self._go.acquire()
        self._left = None if self._left is None else self._left - 1
        self._sent += 1
        sent, kind = Sent.of(request), self._fault.kind if self._sent == self._fault.at else ""
        self._die_if(kind == "killed before")
        if kind == "stopped":
            self._deadline.stop("a signal")
        if self._fault.kind == "outage" and self._sent >= self._fault.at:
            return Response(503, {}, b"out of order")
        if self._fault.kind == "no pods" and sent.plural == "pods":
            return Response(403, {}, b"no such right")
        response = self._answered(sent)
        self._die_if(kind == "killed after")
        if kind == "response lost":
            raise Retryable(f"{request} failed: connection reset")
        self.sight.see(sent, response)
        return response

    def _die_if(self, killed: bool) -> None:
        self._dead |= killed
        if self._dead:
            raise Killed

    def _answered(self, sent: Sent) -> Response:
        noted = self._law.before(self, sent) if sent.writes else None
        response = self._backend.send(sent, self._stale.steps if sent.plural == self._stale.plural else 0)
        if sent.writes:
            self.writes.append(sent)
            self._law.after(self, sent, response, noted)
        return response


@contextmanager
def speaking(program: Program) -> Iterator[None]:
    """The modules as they are in this version of the program; it may ask for smaller pages."""
    modules = ("takara_sync.plan", "takara_sync.record", "takara_sync.reconcile")
    patches = [patch(f"{module}.FORMAT", program.format) for module in modules]
    patches.append(patch("takara_sync.kube.cluster.PAGE", program.page))
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in reversed(patches):
            one.stop()


def _policy(program: Program) -> Policy:
    return Policy(
        max_size=program.max_size,
        max_changes=program.max_changes,
        allow_templates=program.templates,
        desired=lambda takara: _desired(takara, program),
    )


def _desired(takara: Takara, program: Program) -> Manifest:
    """The default manifest, of a program whose default image is another one."""
    manifest = deployment_for(takara)
    if not takara.spec.get("template"):
        manifest["spec"]["template"]["spec"]["containers"][0]["image"] = program.image
    return manifest
