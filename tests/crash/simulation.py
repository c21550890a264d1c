"""A situation on the simulator, to be gone back to as often as wanted; every write of the tool is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import unquote

from takara_sync import Report, sync_once
from takara_sync.kube.response import Request, Response
from takara_sync.simulator import Snapshot
from takara_sync.simulator.kinds import DEPLOYMENT, POD, REPLICA_SET, takara
from tests.contract.simulated import Simulated
from tests.crash.process import Killed, Process
from tests.crash.situations import Situation
from tests.crash.state import State, controller_uid, ready_reason, wrong
from tests.support.transport import InProcess, in_process, is_aside
from tests.tool import Tool
from tests.world import Json, World

TAKARA = takara()
BETWEEN_PASSES = timedelta(seconds=30)


class Moment(NamedTuple):
    """The objects and the clock."""

    objects: Snapshot
    now: datetime


class Simulation:
    """One prepared situation.

    `breaches`: the rules that the tool has broken since the last `back_to`. `checks_status`: whether a status has to be
    true at the moment it is written, which no pass can promise whose Takaras are edited meanwhile.

    Of `simulated` only the preparation needs the port; the passes go without.
    """

    exact = True

    def __init__(self, simulated: Simulated, situation: Situation) -> None:
        self.policy = situation.policy
        world = World(simulated, simulated.namespace())
        self.tool = Tool(simulated, world.namespace)
        situation.scenario.prepare(world, self.tool)
        self.namespace, self.store = world.namespace, simulated.store
        self._controllers = simulated.simulator.controllers
        self._controllers.runs = lambda _: not situation.crowd
        self.now = datetime.now(UTC) + situation.later
        self.store.now = lambda: self.now
        self.checks_status = True
        self.breaches: list[str] = []
        self._settled = 0  # the version that the controllers have nothing to do about
        self.start = self.moment()

    # -------------------------------------------------------------- there and back

    def moment(self) -> Moment:
        return Moment(self.store.snapshot(), self.now)

    def back_to(self, moment: Any) -> None:
        self.store.restore(moment.objects)
        self.now = moment.now
        self._settled = 0
        self.store.requests.clear()
        self.breaches.clear()

    def settle(self) -> bool:
        """The controllers do all that they will do; whether that was anything."""
        before = self.store.version
        if self._settled != before:
            self._controllers.settle()
        self._settled = self.store.version
        return self._settled != before

    def tick(self) -> None:
        self._controllers.tick()

    def state(self) -> State:
        every = self.store.all
        found = (every(kind, self.namespace) for kind in (TAKARA, DEPLOYMENT, REPLICA_SET))
        return State(self.namespace, *found)

    def edit(self, name: str, patch: Json, plural: str = "takaras") -> None:
        """Somebody merges this into a Takara, or into its Deployment."""
        self.somebody("PATCH", plural, name, patch, "application/merge-patch+json")

    def somebody(self, method: str, plural: str, name: str, body: Json | None = None, kind: str = "") -> None:
        """A request of somebody else; a POST has no name in its path."""
        api = (TAKARA if plural == "takaras" else DEPLOYMENT).api_version
        path = f"/apis/{api}/namespaces/{self.namespace}/{plural}/{name}".rstrip("/")
        person = InProcess(self.store.handle, user=self.tool.user.token)
        response = person.send(Request(method, path, (), body, kind or "application/json"), 1)
        assert response.status < 300, response.body

    # -------------------------------------------------------------- the tool

    def run(self, process: Process, workers: int = 1, **policy: Any) -> Report | None:
        """A pass of the real code over this cluster; None where it was killed. policy: what differs in it."""
        cluster = in_process(
            self.store.handle,
            lambda request, send: process.around(request, lambda: self._watched(process, request, send)),
            self.tool.user.token,
            namespaces=[self.namespace],
        )
        now, self.now = self.now, self.now + BETWEEN_PASSES
        try:
            return sync_once(cluster, replace(self.policy, **policy), workers=workers, now=lambda: now)
        except Killed:
            return None

    def _watched(self, process: Process, request: Request, send: Callable[[], Response]) -> Response:
        """A request of the tool; whatever it changes is checked."""
        if not request.writes or is_aside(request):
            return send()
        kind, name = self._written(request)
        before = self.store.get(kind, self.namespace, name)
        response = send()
        after = self.store.get(kind, self.namespace, name)
        if after is not before and kind == DEPLOYMENT:
            self._check_deployment(process, name, before, after)
        elif after is not before:
            self._check_status(name, before, after)
        return response

    # -------------------------------------------------------------- what it may write

    def _written(self, request: Request) -> tuple[Any, str]:
        where = unquote(request.path).rpartition(f"/namespaces/{self.namespace}/")[2].split("/")
        if request.method != "PATCH" or (where[0], *where[2:]) not in (("deployments",), ("takaras", "status")):
            self.breaches.append(f"{request} is none of the writes that the tool has")
        return (DEPLOYMENT if where[0] == "deployments" else TAKARA), (where[1] if len(where) > 1 else "")

    def _check_deployment(self, process: Process, name: str, before: Json | None, after: Json | None) -> None:
        """It is this Takara's, before the write and after; an older size never replaces the one that is asked for."""
        owner = self.store.get(TAKARA, self.namespace, name)
        old, new = (one["spec"] if one else {} for one in (before, after))
        if old != new:
            process.changed.append((name, old, new))
        if owner is None or after is None or controller_uid(after) != owner["metadata"]["uid"]:
            self.breaches.append(f"Deployment {name} was made for nobody, or deleted")
            return
        if before is not None and controller_uid(before) != owner["metadata"]["uid"]:
            self.breaches.append(f"Deployment {name} was written, and is not this Takara's")
        if old.get("replicas") == owner["spec"]["size"] != new["replicas"]:
            self.breaches.append(f"Deployment {name} was at its size, and has {new['replicas']} replicas now")

    def _check_status(self, name: str, before: Json | None, after: Json | None) -> None:
        """What a status says has been done, and has been seen; it is not of an older generation than the one before."""
        generations = [((one or {}).get("status") or {}).get("observedGeneration", 0) for one in (before, after)]
        if generations != sorted(generations):
            self.breaches.append(f"the status of Takara {name} went back to generation {generations[1]}")
        deployment = self.store.get(DEPLOYMENT, self.namespace, name)
        takara = after or {"metadata": {"name": name, "deletionTimestamp": ""}}
        if (what := wrong(takara, deployment)) and self.checks_status:
            self.breaches.append(f"the status of Takara {name} was {ready_reason(takara)} before it was true: {what}")
        pods = {pod["metadata"]["name"] for pod in self.store.all(POD, self.namespace)}
        if not set((takara.get("status") or {}).get("nodes") or ()) <= pods:
            self.breaches.append(f"the status of Takara {name} names pods that do not exist")
