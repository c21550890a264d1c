"""A simulated cluster with a clock of its own, and what people and other programs do there."""

from __future__ import annotations

import json
import threading
from datetime import datetime, timedelta
from typing import Any

from takara_sync.simulator import Answer, Controllers, Store
from takara_sync.simulator import Request as Served
from takara_sync.simulator.kinds import NAMESPACE
from tests.unit.build import NOW, PAUSED, Json, manifest, owner

GO_OPERATOR = "takara-operator"
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
_PATHS = {"Takara": "/apis/maho.takara.org/v1alpha1", "Deployment": "/apis/apps/v1", "Pod": "/api/v1"}


class People:
    """One cluster; its objects are in the namespace `ns` where no other is named. `minutes` is what its clock shows."""

    def __init__(self) -> None:
        self.minutes = 0.0
        self.store = Store(now=self.now, crd="schemaless", seed=1)
        self.lock = threading.RLock()

    def now(self) -> datetime:
        return NOW + timedelta(minutes=self.minutes)

    def handle(self, request: Served) -> Answer:
        """One request, alone with the store."""
        with self.lock:
            return self.store.handle(request)

    # -------------------------------------------------------------- what people do

    def ask(self, method: str, path: str, body: Any = None, media: str = MERGE, manager: str = "kubectl") -> Json:
        """What the server answers to somebody else."""
        headers = {"content-type": media, "authorization": "Bearer somebody"}
        answer = self.handle(Served(method, path, {"fieldManager": manager}, headers, json.dumps(body).encode()))
        assert answer.status < 300, answer.body
        found: Json = answer.json()
        return found

    def create(self, namespace: str, *objects: Json, manager: str = "kubectl") -> object:
        """Store new objects, and their namespace where it is new."""
        if not self.store.get(NAMESPACE, "", namespace):
            made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            self.ask("POST", "/api/v1/namespaces", made)
        for one in objects:
            path = f"{_PATHS[one['kind']]}/namespaces/{namespace}/{one['kind'].lower()}s"
            self.ask("POST", path, one, manager=manager)
        return objects

    def patch(self, kind: str, name: str, patch: Json, media: str = MERGE, manager: str = "kubectl") -> object:
        return self.ask("PATCH", _path(kind, name), patch, media, manager)

    def edit(self, name: str = "one", **spec: Any) -> object:
        """Somebody changes the spec of a Takara."""
        return self.patch("Takara", name, {"spec": spec})

    def pause(self, name: str = "one") -> object:
        return self.patch("Takara", name, {"metadata": {"annotations": PAUSED}})

    def set_status(self, name: str, status: Any) -> object:
        """Another program writes to the status."""
        return self.patch("Takara", f"{name}/status", {"status": status}, manager="another")

    def scale(self, name: str = "one", replicas: int = 7, manager: str = "hpa") -> object:
        return self.patch("Deployment", f"{name}/scale", {"spec": {"replicas": replicas}}, manager=manager)

    def set_image(self, name: str = "one", image: str = "nginx") -> object:
        containers = [{"name": "takara", "image": image}]
        template = {"spec": {"containers": containers}}
        return self.patch("Deployment", name, {"spec": {"template": template}}, STRATEGIC, "kubectl-set")

    def clear_managed_fields(self, name: str = "one") -> object:
        return self.patch("Deployment", name, {"metadata": {"managedFields": [{}]}})

    def delete(self, kind: str, name: str = "one") -> object:
        return self.ask("DELETE", _path(kind, name), {})

    def hold(self, kind: str, name: str = "one") -> object:
        """Somebody deletes an object that a finalizer keeps."""
        self.patch(kind, name, {"metadata": {"finalizers": ["example.org/hold"]}})
        return self.delete(kind, name)

    def deploy(self, name: str = "one", replicas: int = 3, manager: str = GO_OPERATOR, **metadata: Any) -> object:
        """A Deployment as the Go operator makes it: with an owner and without labels; with other metadata if given."""
        made = manifest(name, replicas)
        mine = owner(name, uid=self.get("Takara", name)["metadata"]["uid"])
        made["metadata"] = {"name": name, "ownerReferences": [mine]} | metadata
        return self.create("ns", made, manager=manager)

    def spoil(self, name: str, **values: Any) -> None:
        """The list holds a Deployment that cannot be read; no server would store it."""
        held = self.store.held["deployments"]
        held[f"ns/{name}"] = held.get(f"ns/{name}", {}) | (values or {"spec": 5})

    def settle(self) -> None:
        """The controllers do all that they will do: pods start."""
        Controllers(self.store).settle()

    # -------------------------------------------------------------- what there is

    def get(self, kind: str, name: str = "one") -> Json:
        return self.ask("GET", _path(kind, name))

    def items(self, kind: str) -> list[Json]:
        found: list[Json] = self.ask("GET", f"{_PATHS[kind]}/{kind.lower()}s")["items"]
        return found

    def replicas(self, name: str = "one") -> Any:
        return self.get("Deployment", name)["spec"]["replicas"]

    def status(self, name: str = "one") -> Json:
        found: Json = self.get("Takara", name).get("status", {})
        return found

    def reason(self, name: str = "one", kind: str = "Ready") -> str:
        return next((c["reason"] for c in self.status(name).get("conditions", []) if c["type"] == kind), "")


def _path(kind: str, name: str) -> str:
    return f"{_PATHS[kind]}/namespaces/ns/{kind.lower()}s/{name}"
