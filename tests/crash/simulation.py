"""A situation on the simulator, to be gone back to as often as wanted; every write of the tool is looked at."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import msgspec

from takara_sync import KubeCluster, sync_once
from takara_sync.kube.answers import Answer, Request
from takara_sync.simulator import Request as Sent
from takara_sync.simulator.kinds import DEPLOYMENT, POD, REPLICA_SET, takara
from tests.crash.process import Direct, Killed, Process
from tests.crash.state import State, controller_uid, ready_reason, wrong
from tests.tool import Tool
from tests.world import World

if TYPE_CHECKING:
    from takara_sync import Report
    from tests.contract.simulated import Simulated
    from tests.crash.situations import Situation
    from tests.world import Json

TAKARA = takara()
BETWEEN_PASSES = timedelta(seconds=30)


class Moment(NamedTuple):
    """Everything that the simulator remembers. What it stores is never changed in place."""

    version: int
    held: dict[Any, dict[tuple[str, str], Json]]
    random: Any
    now: datetime


class Simulation:
    """One prepared situation; `breaches` are the rules that the tool has broken since the last `back_to`.

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
        self.store.now = self.store.objects._now = lambda: self.now
        self.created: Counter[str] = Counter()
        self.breaches: list[str] = []
        self._settled = 0  # the version that the controllers have nothing to do about
        self.start = self.moment()

    # -------------------------------------------------------------- there and back

    def moment(self) -> Moment:
        objects = self.store.objects
        held = {kind: {**found} for kind, found in objects._held.items()}
        return Moment(objects.version, held, objects._random.getstate(), self.now)

    def back_to(self, moment: Moment) -> None:
        objects = self.store.objects
        objects.version, self.now = moment.version, moment.now
        objects._held = {kind: {**found} for kind, found in moment.held.items()}
        objects._random.setstate(moment.random)
        self._settled = 0
        self.store.requests.clear()
        self.created.clear()
        self.breaches.clear()

    def settle(self) -> bool:
        """The controllers do all that they will do; whether that was anything."""
        before = self.store.objects.version
        if self._settled != before:
            self._controllers.settle()
        self._settled = self.store.objects.version
        return self._settled != before

    def tick(self) -> None:
        self._controllers.tick()

    def state(self) -> State:
        every = self.store.objects.all
        found = (every(kind, self.namespace) for kind in (TAKARA, DEPLOYMENT, REPLICA_SET))
        return State(self.namespace, *found)

    def edit(self, name: str, patch: Json) -> None:
        """Somebody merges this into a Takara."""
        path = f"/apis/{TAKARA.api_version}/namespaces/{self.namespace}/takaras/{name}"
        headers = {"authorization": f"Bearer {self.tool.user.token}", "content-type": "application/merge-patch+json"}
        answer = self.store.handle(Sent("PATCH", path, {}, headers, msgspec.json.encode(patch)))
        assert answer.status == 200, answer.body

    # -------------------------------------------------------------- the tool

    def run(self, process: Process, workers: int = 1) -> Report | None:
        """A pass of the real code over this cluster; None where it was stopped."""
        cluster = KubeCluster(Direct(process, self.answer), namespaces=[self.namespace])
        now, self.now = self.now, self.now + BETWEEN_PASSES
        try:
            return sync_once(cluster, self.policy, workers=workers, now=lambda: now)
        except Killed:
            return None

    def answer(self, request: Request) -> Answer:
        """What the server says to a request of the tool."""
        if request.method == "GET":
            return self._handled(request)
        kind, name = self._written(request)
        before = self.store.objects.get(kind, self.namespace, name)
        answer = self._handled(request)
        after = self.store.objects.get(kind, self.namespace, name)
        if after is not before:
            judge = self._look_at_deployment if kind == DEPLOYMENT else self._look_at_status
            judge(name, before, after)
        return answer

    def _handled(self, request: Request) -> Answer:
        headers = {
            "authorization": f"Bearer {self.tool.user.token}",
            "accept": request.accept,
            "content-type": request.content_type,
        }
        body = b"" if request.body is None else msgspec.json.encode(request.body)
        answer = self.store.handle(Sent(request.method, unquote(request.path), dict(request.query), headers, body))
        return Answer(answer.status, answer.headers, answer.body)

    # -------------------------------------------------------------- what it may write

    def _written(self, request: Request) -> tuple[Any, str]:
        where = unquote(request.path).rpartition(f"/namespaces/{self.namespace}/")[2].split("/")
        if request.method != "PATCH" or (where[0], *where[2:]) not in (("deployments",), ("takaras", "status")):
            self.breaches.append(f"{request} is none of the writes that the tool has")
        return (DEPLOYMENT if where[0] == "deployments" else TAKARA), (where[1] if len(where) > 1 else "")

    def _look_at_deployment(self, name: str, before: Json | None, after: Json | None) -> None:
        owner = self.store.objects.get(TAKARA, self.namespace, name)
        if before is None:
            self.created[name] += 1
        elif owner is None or controller_uid(before) != owner["metadata"]["uid"]:
            self.breaches.append(f"Deployment {name} was written, and is not this Takara's")
        if owner is None or after is None or controller_uid(after) != owner["metadata"]["uid"]:
            self.breaches.append(f"Deployment {name} was made for nobody, or deleted")
        elif before is not None and before["metadata"]["uid"] != after["metadata"]["uid"]:
            self.breaches.append(f"Deployment {name} has become another one")
        if self.created[name] > 1:
            self.breaches.append(f"Deployment {name} was created {self.created[name]} times")

    def _look_at_status(self, name: str, _before: Json | None, after: Json | None) -> None:
        """What is told has been done, and has been seen."""
        deployment = self.store.objects.get(DEPLOYMENT, self.namespace, name)
        told = after or {"metadata": {"name": name, "deletionTimestamp": ""}}
        if what := wrong(told, deployment):
            self.breaches.append(f"Takara {name} was told {ready_reason(told)} before it was true: {what}")
        pods = {pod["metadata"]["name"] for pod in self.store.objects.all(POD, self.namespace)}
        if not set((told.get("status") or {}).get("nodes") or ()) <= pods:
            self.breaches.append(f"Takara {name} was told nodes that there are not")
