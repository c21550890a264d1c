"""A fleet of Takaras, good and poisoned by turns, behind an Api without a wire."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from takara_sync.kube.api import Api
from takara_sync.kube.cluster import KubeCluster
from takara_sync.plan import Policy
from takara_sync.report import Report
from takara_sync.simulator import Answer, Controllers, Store
from takara_sync.simulator import Request as Asked
from takara_sync.sync import sync_once
from tests.poison.values import Json, Poison
from tests.support.takaras import takara
from tests.support.transport import InProcess

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


class World(Api):
    """A store, what is served instead of its objects, and a connection to it without a wire."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(InProcess(lambda asked: self.handle(asked)))  # noqa: PLW0108 - a test may replace it
        self.store = store or Store(crd="schemaless", seed=7)
        self.poisons: Mapping[tuple[str, str], Poison] = {}
        self.writes: list[tuple[str, str, int]] = []
        self.notes: list[str] = []
        self.poisoned_in = {"lists", "objects"}
        self._lock = threading.RLock()

    def handle(self, asked: Asked) -> Answer:
        """The store's answer, with poison in it."""
        with self._lock:
            try:
                found = self.store.handle(asked)
            except Exception as error:  # noqa: BLE001 - what a real server would make of a poisoned write is no matter
                return Answer.of(500, {"kind": "Status", "reason": "InternalError", "message": ascii(error)})
            if asked.path.endswith("/events"):
                self.notes.append(json.loads(asked.body)["note"])
            elif asked.method != "GET":
                self.writes.append((asked.method, asked.path, found.status))
            body = self._poisoned(asked.path, found.body) if found.status < 300 else found.body
            return Answer(found.status, body, found.headers)

    def _poisoned(self, path: str, body: bytes) -> bytes:
        document = json.loads(body)
        if "items" not in document:
            plural, name = path.split("/")[-2:]
            poison = self.poisons.get((plural, name))
            served = poison and not poison.is_identity and "objects" in self.poisoned_in
            return poison.change(document) if poison and served else body
        if "lists" not in self.poisoned_in:
            return body
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
        return sync_once(KubeCluster(self), policy, workers=2)

    def settle(self) -> None:
        Controllers(self.store).settle()

    def twin(self) -> World:
        """Another world with the same objects."""
        store = Store(crd="schemaless", seed=8)
        store.restore(self.store.snapshot())
        return World(store)


def owner_of(plural: str, name: str) -> str:
    """The Takara that a pod is one of; other names are those of Takaras."""
    return name.rsplit("-", 2)[0] if plural == "pods" else name


def converged() -> World:
    """The fleet after a few passes, with every part that a pass reads; poisoned ones are what they will be later."""
    world = World()
    world.call("POST", "/api/v1/namespaces", {"metadata": {"name": "fleet"}})
    for name in FLEET:
        spec: Json = {"template": TEMPLATE} if name in BAD else {}
        made = takara(name, 2, **spec)
        made["metadata"] |= {"labels": {"team": "x"}, "annotations": {"note": "x"}}
        world.call("POST", TAKARAS, made)
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
    body = {"status": status | {"conditions": [*status["conditions"], condition]}}
    world.call("PATCH", f"{TAKARAS}/{name}/status", body, MERGE)


def bare(base: World) -> World:
    """A twin in which the poisoned Takaras have no Deployment."""
    world = base.twin()
    for name in BAD:
        world.call("DELETE", f"{DEPLOYMENTS}/{name}")
    return world


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
