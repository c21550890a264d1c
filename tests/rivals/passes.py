"""Passes of a program in this process, on a clock of the test's own, with what they wrote."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from takara_sync import Policy, Report, sync_once
from takara_sync.kube.response import Request, Response
from tests.contract.simulated import Simulated
from tests.support.transport import in_process, is_aside, over_http
from tests.world import World

Send = Callable[[], Response]

START = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Passes:
    """takara-sync in one namespace. `minutes` is the clock of statuses and contests; a test may set it.

    writes: those that succeeded.
    """

    def __init__(self, world: World, policy: Policy = Policy()) -> None:  # noqa: B008 - frozen
        self.world = world
        self.policy = policy
        self.user = world.server.user()
        self.writes: list[Request] = []
        self.minutes = 0.0
        self._interrupt: Callable[[], object] = lambda: None
        server = world.server
        if isinstance(server, Simulated):
            self.cluster = in_process(
                server.simulator.store.handle, self._around, self.user.token, namespaces=[world.namespace]
            )
        else:
            self.cluster = over_http(str(self.user.kubeconfig), self._around, namespaces=[world.namespace])

    def _around(self, request: Request, send: Send) -> Response:
        if is_aside(request):
            return send()
        self._interrupt()
        response = send()
        if request.writes and response.status < 300:
            self.writes.append(request)
        return response

    def once(self, workers: int = 1) -> Report:
        """A pass, whatever comes of it."""
        return sync_once(self.cluster, self.policy, workers=workers, now=self.now)

    def held_up(self, point: int, meanwhile: Callable[[], object]) -> Report:
        """A pass, and what others do ahead of its request number `point`, counted from 0."""
        left = point

        def interrupt() -> None:
            nonlocal left
            left -= 1
            if left == -1:
                meanwhile()

        self._interrupt = interrupt
        try:
            return self.once()
        finally:
            self._interrupt = lambda: None

    def sync(self) -> list[Request]:
        """A pass that has to end well; the writes that it made."""
        before = len(self.writes)
        report = self.once()
        assert report.exit == 0, report
        return self.writes[before:]

    def settle(self) -> None:
        """Passes and controllers until there is nothing left to do; far fewer rounds than these are needed."""
        for _ in range(6):
            self.world.settle()
            if not self.sync():
                return
        raise AssertionError("the passes did not settle")

    def now(self) -> datetime:
        return START + timedelta(minutes=self.minutes)


def of_deployments(writes: list[Request]) -> list[Request]:
    return [request for request in writes if "/deployments/" in request.path]


def of_statuses(writes: list[Request]) -> list[Request]:
    return [request for request in writes if request.path.endswith("/status")]
