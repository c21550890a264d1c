"""A fleet of Takaras, good and poisoned by turns, behind an Api without a wire that serves what it is told to."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from takara_sync.cluster import Deadline
from takara_sync.kube.answers import Again, Answer, Request, judge
from takara_sync.kube.cluster import KubeCluster
from takara_sync.plan import Policy
from takara_sync.simulator import Controllers, Store
from takara_sync.simulator import Request as Asked
from takara_sync.sync import sync_once
from tests.poison.values import Json, Poison

if TYPE_CHECKING:
    from collections.abc import Mapping

    from takara_sync.report import Report

TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/fleet/takaras"
DEPLOYMENTS = "/apis/apps/v1/namespaces/fleet/deployments"
MERGE = "application/merge-patch+json"
POISONED = 12
FLEET = [f"t{place:02}-{'poisoned' if place % 2 else 'good'}" for place in range(2 * POISONED + 1)]
GOOD = FLEET[::2]
BAD = FLEET[1::2]
FOREIGN = "foreign"
POLICY = Policy(allow_templates=True)
TEMPLATE: Json = {
    "metadata": {"labels": {"tier": "web"}, "annotations": {"note": "x"}},
    "spec": {
        "containers": [
            {"name": "web", "image": "nginx", "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "b"}]}
        ]
    },
}


class World:
    """A store, and what is served instead of its objects. It is an Api, as far as a pass and the commands need one."""

    def __init__(self, store: Store | None = None) -> None:
        self.store = store or Store(crd="schemaless", seed=7)
        self.poisons: Mapping[tuple[str, str], Poison] = {}
        self.writes: list[tuple[str, str, int]] = []
        self._lock = threading.RLock()

    # -------------------------------------------------------------- as the Api

    def send(self, request: Request, deadline: Deadline) -> bytes:
        deadline.check()
        headers = {"accept": request.accept, "content-type": request.content_type, "authorization": "Bearer poisoner"}
        body = b"" if request.body is None else json.dumps(request.body).encode()
        answer = self.handle(Asked(request.method, request.path, dict(request.query), headers, body))
        try:
            return judge(request, answer)
        except Again as again:
            raise again.error from again

    def close(self) -> None:
        """There is nothing to close."""

    def handle(self, asked: Asked) -> Answer:
        """The store's answer, with poison in it."""
        with self._lock:
            try:
                found = self.store.handle(asked)
            except Exception as error:  # noqa: BLE001 - what a real server would make of a poisoned write is no matter
                return Answer(
                    500, {}, json.dumps({"kind": "Status", "reason": "InternalError", "message": str(error)}).encode()
                )
            if asked.method != "GET":
                self.writes.append((asked.method, asked.path, found.status))
            body = self._poisoned(asked.path, found.body) if found.status < 300 else found.body
            return Answer(found.status, dict(found.headers), body)

    def _poisoned(self, path: str, body: bytes) -> bytes:
        document = json.loads(body)
        if "items" not in document:
            plural, name = path.split("/")[-2:]
            poison = self.poisons.get((plural, name))
            return poison.change(document) if poison and not poison.is_identity else body
        plural = path.rpartition("/")[2]
        items = [self._served(plural, item) for item in document.pop("items") or ()]
        return json.dumps(document).encode()[:-1] + b', "items": [' + b", ".join(items) + b"]}"

    def _served(self, plural: str, item: Json) -> bytes:
        poison = self.poisons.get((plural, owner_of(plural, item["metadata"]["name"])))
        return poison.change(item) if poison else json.dumps(item).encode()

    # -------------------------------------------------------------- what tests do

    def call(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Json:
        """A request of somebody else, answered without poison."""
        headers = {"content-type": content_type, "authorization": "Bearer somebody"}
        raw = b"" if body is None else json.dumps(body).encode()
        answer = self.store.handle(Asked(method, path, {"fieldManager": "somebody"}, headers, raw))
        assert answer.status < 300, answer.body
        found: Json = answer.json()
        return found

    def sync(self, policy: Policy = POLICY) -> Report:
        self.writes.clear()
        return sync_once(KubeCluster(self, deadline=Deadline(60)), policy, workers=2)  # type: ignore[arg-type]

    def settle(self) -> None:
        Controllers(self.store.objects).settle()

    def twin(self) -> World:
        """Another world with the same objects; nothing stored is ever changed in place."""
        store = Store(crd="schemaless", seed=8)
        store.objects._held = {kind: dict(held) for kind, held in self.store.objects._held.items()}
        store.objects.version = self.store.objects.version
        return World(store)


def owner_of(plural: str, name: str) -> str:
    """The Takara that a pod is one of; other names are those of Takaras."""
    return name.rsplit("-", 2)[0] if plural == "pods" else name


def takara(name: str, size: Any = 2, **spec: Any) -> Json:
    kind = {"apiVersion": "maho.takara.org/v1alpha1", "kind": "Takara"}
    metadata = {"name": name, "namespace": "fleet", "labels": {"team": "x"}, "annotations": {"note": "x"}}
    return kind | {"metadata": metadata, "spec": {"size": size} | spec}


def converged() -> World:
    """The fleet after a few passes, with every part that a pass reads; poisoned ones are what they will be later."""
    world = World()
    world.call("POST", "/api/v1/namespaces", {"metadata": {"name": "fleet"}})
    for name in FLEET:
        world.call("POST", TAKARAS, takara(name, **({"template": TEMPLATE} if name in BAD else {})))
    foreign = {"metadata": {"name": FOREIGN, "labels": {"app": "takara"}}, "spec": foreign_spec()}
    world.call("POST", DEPLOYMENTS, foreign)
    for _ in range(2):
        assert world.sync().exit == 0
        world.settle()
    for name in BAD:
        _live_a_life(world, name)
    assert world.sync().exit == 0
    return world


def foreign_spec() -> Json:
    labels = {"app": "takara"}
    containers = [{"name": "takara", "image": "busybox"}]
    return {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
    }


def _live_a_life(world: World, name: str) -> None:
    """Somebody scales it, annotates it and adds a condition: so all that a pass reads is there."""
    world.call("PATCH", f"{DEPLOYMENTS}/{name}/scale", {"spec": {"replicas": 5}}, MERGE)
    world.call("PATCH", f"{DEPLOYMENTS}/{name}", {"metadata": {"annotations": {"restarted": "x"}}}, MERGE)
    status = world.call("GET", f"{TAKARAS}/{name}")["status"]
    condition = {
        "type": "Other",
        "status": "True",
        "reason": "R",
        "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    told = {"status": status | {"conditions": [*status["conditions"], condition]}}
    world.call("PATCH", f"{TAKARAS}/{name}/status", told, MERGE)


def drifted(base: World) -> World:
    """A twin in which there is something to do: a Deployment is gone, others were scaled or edited."""
    world = base.twin()
    world.call("DELETE", f"{DEPLOYMENTS}/{GOOD[0]}")
    for name in (GOOD[1], *BAD[::3]):
        world.call("PATCH", f"{DEPLOYMENTS}/{name}/scale", {"spec": {"replicas": 7}}, MERGE)
    for name in (GOOD[2], *BAD[1::3]):
        containers = [{"name": "takara" if name in GOOD else "web", "image": "odd"}]
        patch = {"spec": {"template": {"spec": {"containers": containers}}}}
        world.call("PATCH", f"{DEPLOYMENTS}/{name}", patch, "application/strategic-merge-patch+json")
    return world
