"""A situation on a real API server: each time prepared anew, in a namespace of its own."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from takara_sync import Report, sync_once
from tests.crash.process import Killed, Process
from tests.crash.situations import Situation
from tests.crash.state import State
from tests.server import Request, Server
from tests.support.transport import over_http
from tests.tool import Tool
from tests.world import World


def state_of(world: World) -> State:
    """What the server holds in that namespace."""
    apps = f"/apis/apps/v1/namespaces/{world.namespace}"
    paths = {
        "Takara": f"/apis/maho.takara.org/v1alpha1/namespaces/{world.namespace}/takaras",
        "Deployment": f"{apps}/deployments",
        "ReplicaSet": f"{apps}/replicasets",
    }
    found = ([each | {"kind": kind} for each in world.call("GET", path)["items"]] for kind, path in paths.items())
    return State(world.namespace, *found)


def unrecorded(requests: Iterable[Request]) -> frozenset[str]:
    """The Takaras whose Deployment was written, and whose status was not written after that.

    A write whose client was killed may be executed, although the audit log has a 504 for it.
    """
    recorded: dict[str, bool] = {}
    for each in requests:
        status = each.subresource == "status"
        if each.writes and each.resource != "events" and (each.code < 300 or (each.code >= 500 and not status)):
            recorded[each.name] = status
    return frozenset(name for name, done in recorded.items() if not done)


def breaches_in(requests: Iterable[Request]) -> list[str]:
    """What the tool must never ask, by the server's own account. A write of a foreign Deployment shows in the state."""
    allowed = {("patch", "deployments", ""), ("patch", "takaras", "status"), ("create", "events", "")}
    writes = (each for each in requests if each.writes)
    return [each.uri for each in writes if (each.verb, each.resource, each.subresource) not in allowed]


class OnServer:
    """The bench of a real server; only the start can be gone back to."""

    exact = False
    start = 0

    def __init__(self, server: Server, situation: Situation) -> None:
        self._server, self._situation = server, situation
        self._passes = 0

    def moment(self) -> int:
        return self._passes

    def back_to(self, moment: Any) -> None:
        assert moment == self.start
        self._passes = 0
        self.world = World(self._server, self._server.namespace())
        self.tool = Tool(self._server, self.world.namespace)
        self._situation.scenario.prepare(self.world, self.tool)
        self.seen = len(self._server.requests(self.tool.user))

    def settle(self) -> bool:
        """Without nodes some rollouts would never end, so the pods are made ready."""
        for each in self.state().deployments:
            if "deletionTimestamp" not in each["metadata"]:
                self._server.make_ready(self.world.namespace, each["metadata"]["name"])
        self.world.settle()
        return False

    def state(self) -> State:
        return state_of(self.world)

    def run(self, process: Process, workers: int = 1) -> Report | None:
        self._passes += 1
        cluster = over_http(str(self.tool.user.kubeconfig), process.around, namespaces=[self.world.namespace])
        now = datetime.now(UTC) + self._situation.later
        try:
            return sync_once(cluster, self._situation.policy, workers=workers, now=lambda: now)
        except Killed:
            return None

    @property
    def breaches(self) -> list[str]:
        return breaches_in(self._server.requests(self.tool.user)[self.seen :])
