"""A situation on a real API server: each time prepared anew, in a namespace of its own."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from takara_sync import sync_once
from tests.crash.process import Killed, Process
from tests.crash.state import State, controller_uid
from tests.support.transport import over_http
from tests.tool import Tool
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Iterable

    from takara_sync import Report
    from tests.crash.situations import Situation
    from tests.server import Request, Server
    from tests.world import Json

_APPS = "/apis/apps/v1/namespaces"
_MAHO = "/apis/maho.takara.org/v1alpha1/namespaces"


def state_of(world: World) -> State:
    """What the server holds in that namespace."""
    paths = (f"{_MAHO}/{world.namespace}/takaras", *(f"{_APPS}/{world.namespace}/{each}" for each in _APPS_KINDS))
    found = [
        [each | {"kind": kind} for each in world.call("GET", path)["items"]]
        for kind, path in zip(_KINDS, paths, strict=True)
    ]
    return State(world.namespace, *found)


_APPS_KINDS = ("deployments", "replicasets")
_KINDS = ("Takara", "Deployment", "ReplicaSet")


def unrecorded(requests: Iterable[Request]) -> frozenset[str]:
    """The Takaras whose Deployment was written, and whose status was not written after that.

    A write whose client was killed may be executed, although the audit log has a 504 for it.
    """
    recorded: dict[str, bool] = {}
    for each in requests:
        status = each.subresource == "status"
        if each.writes and (each.code < 300 or (each.code >= 500 and not status)):
            recorded[each.name] = status
    return frozenset(name for name, done in recorded.items() if not done)


def breaches_in(requests: Iterable[Request], foreign: set[str]) -> list[str]:
    """What the tool must never ask, by the server's own account. foreign: Deployments of nobody or of others."""
    writes = [each for each in requests if each.writes]
    allowed = {("patch", "deployments", ""), ("patch", "takaras", "status")}
    done = [each for each in writes if each.code < 300 and each.resource == "deployments"]
    created = Counter(each.name for each in done if each.code == 201)
    return [
        *(each.uri for each in writes if (each.verb, each.resource, each.subresource) not in allowed),
        *(f"Deployment {each.name} was written, and is not this Takara's" for each in done if each.name in foreign),
        *(f"Deployment {name} was created {times} times" for name, times in created.items() if times > 1),
    ]


def foreign_in(state: State) -> set[str]:
    owners: dict[str, Json] = {one["metadata"]["name"]: one for one in state.takaras}
    uids = {name: one["metadata"]["uid"] for name, one in owners.items()}
    found = {one["metadata"]["name"]: controller_uid(one) for one in state.deployments}
    return {name for name, uid in found.items() if uid != uids.get(name)}


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
        self._foreign = foreign_in(self.state())
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
        return breaches_in(self._server.requests(self.tool.user)[self.seen :], self._foreign)
