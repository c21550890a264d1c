"""Passes of a program in this process, on a clock of the test's own, with what they wrote."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import unquote

from takara_sync import KubeCluster, Policy, Report, sync_once
from takara_sync.kube.answers import Again, Answer, Request, judge
from takara_sync.kube.api import Api
from takara_sync.simulator import Request as Asked
from tests.contract.simulated import Simulated

if TYPE_CHECKING:
    from collections.abc import Callable

    from takara_sync.cluster import Cluster, Deadline
    from tests.server import Server, User
    from tests.world import World

START = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Direct(Api):
    """The simulator without a wire between: thousands of passes in seconds. Nothing is tried again."""

    def __init__(self, server: Simulated, user: User) -> None:
        self._simulator, self._token = server.simulator, user.token

    def send(self, request: Request, deadline: Deadline) -> bytes:
        deadline.check()
        headers = {"authorization": f"Bearer {self._token}", "accept": request.accept}
        headers |= {"content-type": request.content_type, "user-agent": "takara-sync"}
        body = b"" if request.body is None else json.dumps(request.body).encode()
        asked = Asked(request.method, unquote(request.path), dict(request.query), headers, body)
        answer = self._simulator.handle(asked)
        try:
            return judge(request, Answer(answer.status, answer.headers, answer.body))
        except Again as again:
            raise again.error from again

    def close(self) -> None:
        """There is nothing to close."""


def api_of(server: Server, user: User) -> Api:
    return Direct(server, user) if isinstance(server, Simulated) else Api.connect(str(user.kubeconfig))


class Recorded(Api):
    """An Api that remembers the writes that succeeded."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.writes: list[Request] = []

    def send(self, request: Request, deadline: Deadline) -> bytes:
        answer = self._api.send(request, deadline)
        if request.method != "GET":
            self.writes.append(request)
        return answer

    def close(self) -> None:
        self._api.close()


class Passes:
    """takara-sync in one namespace. `minutes` is the clock of statuses and contests; a test may set it."""

    def __init__(self, world: World, policy: Policy = Policy()) -> None:  # noqa: B008 - frozen
        self.world = world
        self.policy = policy
        self.user = world.server.user()
        self.api = Recorded(api_of(world.server, self.user))
        self.minutes = 0.0

    def cluster(self) -> KubeCluster:
        return KubeCluster(self.api, namespaces=[self.world.namespace])

    def once(self, around: Callable[[Cluster], Cluster] = lambda cluster: cluster, workers: int = 1) -> Report:
        """A pass, whatever comes of it; `around` may put a wrapper around its cluster."""
        return sync_once(around(self.cluster()), self.policy, workers=workers, now=self.now)

    def sync(self) -> list[Request]:
        """A pass that has to end well; the writes that it made."""
        before = len(self.api.writes)
        report = self.once()
        assert report.exit == 0, report
        return self.api.writes[before:]

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
