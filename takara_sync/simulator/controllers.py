"""The controllers: Deployments make ReplicaSets, these make pods, pods run; and garbage is collected.

After kubernetes `pkg/controller`, but in ticks: each tick is one step of every controller.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from takara_sync.simulator.fields import Entry
from takara_sync.simulator.kinds import DEPLOYMENT, POD, REPLICA_SET, Json, Kind
from takara_sync.simulator.objects import Objects
from takara_sync.simulator.wire import Refusal

_HASH = "pod-template-hash"
_OVER = ("Succeeded", "Failed")
_WAITING = {"foregroundDeletion", "orphan"}  # finalizers that end with the dependents


class Controllers:
    """The controllers of a cluster; `runs(pod)` is whether a node would start this pod, and by default always true."""

    def __init__(self, objects: Objects, runs: Callable[[Json], bool] = lambda _: True) -> None:
        self._objects = objects
        self.runs = runs

    def tick(self) -> bool:
        """One step of every controller; returns whether anything changed."""
        before = self._objects.version
        self._collect()
        for pod in self._objects.all(POD):
            if pod["status"].get("phase") == "Pending" and self.runs(pod):
                self._save(POD, pod, "status", status={**pod["status"], "phase": "Running"})
        sets, pods = self._owned(REPLICA_SET), self._owned(POD)
        for one in self._objects.all(REPLICA_SET):
            self._reconcile_set(one, pods.get(one["metadata"]["uid"], []))
        for one in self._objects.all(DEPLOYMENT):
            self._reconcile_deployment(one, sets.get(one["metadata"]["uid"], []))
        return self._objects.version != before

    def settle(self, steps: int = 1000) -> None:
        """Ticks until nothing changes any more. Raises RuntimeError where that takes more than so many ticks."""
        if not any(not self.tick() for _ in range(steps)):
            raise RuntimeError(f"the controllers did not settle within {steps} ticks")

    def _owned(self, kind: Kind) -> dict[str, list[Json]]:
        """The objects of a kind by the uid of their controller."""
        found: dict[str, list[Json]] = {}
        for item in self._objects.all(kind):
            for owner in item["metadata"].get("ownerReferences", ()):
                if owner.get("controller"):
                    found.setdefault(owner["uid"], []).append(item)
        return found

    def _save(self, kind: Kind, old: Json, subresource: str = "", **changed: Any) -> None:
        if any(old.get(key) != value for key, value in changed.items()):
            self._objects.update(kind, old, {**old, **changed}, self._writer(kind, subresource))

    def _create(self, kind: Kind, owner: Json, metadata: Json, spec: Json) -> None:
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
        reference |= {"uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
        place = {"namespace": owner["metadata"]["namespace"], "ownerReferences": [reference]}
        with suppress(Refusal):  # an admission hook refuses it; the next tick tries again
            self._objects.create(kind, {"metadata": {**metadata, **place}, "spec": spec}, self._writer(kind))

    def _writer(self, kind: Kind, subresource: str = "") -> Entry:
        return Entry("kube-controller-manager", "Update", kind.api_version, subresource, self._objects.time())

    def _reconcile_set(self, one: Json, pods: list[Json]) -> None:
        template, size, prefix = one["spec"]["template"], one["spec"]["replicas"], f"{one['metadata']['name']}-"
        alive = [pod for pod in pods if _stays(pod) and pod["status"].get("phase") not in _OVER]
        if _stays(one):
            for _ in range(size - len(alive)):
                self._create(POD, one, {**template["metadata"], "generateName": prefix}, template["spec"])
            for pod in sorted(alive, key=_runs)[: max(0, len(alive) - size)]:
                self._objects.delete(POD, pod)
        counts = {"replicas": len(alive), "readyReplicas": sum(map(_runs, alive))}
        self._save(REPLICA_SET, one, "status", status=counts)

    def _reconcile_deployment(self, one: Json, sets: list[Json]) -> None:
        """All new pods start at once; the old ones end when the new ones run."""
        size, hashed = one["spec"]["replicas"], _template_hash(one["spec"]["template"])
        new = next((item for item in sets if item["metadata"]["labels"].get(_HASH) == hashed), None)
        if _stays(one) and new is None:
            self._create(REPLICA_SET, one, *_replica_set(one, hashed))
        elif _stays(one) and new:
            self._resize(new, size)
            for old in (item for item in sets if item is not new and _ready(new) >= size):
                self._resize(old, 0)
        self._save(DEPLOYMENT, one, "status", status=_status(one, new, sets))

    def _resize(self, replica_set: Json, size: int) -> None:
        self._save(REPLICA_SET, replica_set, spec={**replica_set["spec"], "replicas": size})

    # -------------------------------------------------------------- garbage collection

    def _collect(self) -> None:
        """Deletes what has no owner any more, and ends the deletions that waited for their dependents."""
        for kind, item in self._everything():
            owners = item["metadata"].get("ownerReferences", [])
            fates = [fate(self._objects, item["metadata"]["namespace"], owner) for owner in owners]
            kept = [owner for owner, found in zip(owners, fates, strict=True) if found == "keep"]
            if {*fates} == {"delete"}:
                self._objects.delete(kind, item)
            elif kept != owners:
                self._save(kind, item, metadata={**item["metadata"], "ownerReferences": kept})
        owning = {one["uid"] for _, item in self._everything() for one in item["metadata"].get("ownerReferences", ())}
        for kind, item in self._everything():
            rest = [one for one in item["metadata"].get("finalizers", ()) if one not in _WAITING]
            if _finalizers(item) & _WAITING and item["metadata"]["uid"] not in owning:
                self._save(kind, item, metadata={**item["metadata"], "finalizers": rest})

    def _everything(self) -> list[tuple[Kind, Json]]:
        """Every object that has a namespace."""
        return [(kind, item) for kind in self._objects.kinds if kind.namespaced for item in self._objects.all(kind)]


def fate(objects: Objects, namespace: str, owner: Json) -> str:
    """What an owner means for its dependent: "keep" it; "delete" it; or "orphan" it, which ends the reference."""
    named = (owner["apiVersion"], owner["kind"])
    kind = next((one for one in objects.kinds if (one.api_version, one.kind) == named), None)
    if kind is None:  # nobody knows whether it is there
        return "keep"
    found = objects.get(kind, namespace, owner["name"])
    if found is None or found["metadata"]["uid"] != owner["uid"] or "foregroundDeletion" in _finalizers(found):
        return "delete"
    return "orphan" if "orphan" in _finalizers(found) else "keep"


def _finalizers(item: Json) -> set[str]:
    """What the deletion of an object waits for; empty where it is not being deleted."""
    return set() if _stays(item) else {*item["metadata"].get("finalizers", ())}


def _stays(item: Json) -> bool:
    return "deletionTimestamp" not in item["metadata"]


def _runs(pod: Json) -> bool:
    return bool(pod["status"].get("phase") == "Running")


def _ready(replica_set: Json) -> int:
    return int(replica_set["status"].get("readyReplicas", 0))


def _template_hash(template: Json) -> str:
    """A hash of the template in the alphabet of Kubernetes; its value differs from that of a real cluster."""
    digest = hashlib.sha256(msgspec.json.encode(template, order="deterministic")).digest()
    return "".join("bcdfghjklmnpqrstvwxz2456789"[byte % 27] for byte in digest[:10])


def _replica_set(one: Json, hashed: str) -> tuple[Json, Json]:
    """Metadata and spec of the ReplicaSet for a Deployment's template as it is now."""
    template, selector = one["spec"]["template"], one["spec"]["selector"]
    labels = {**template["metadata"].get("labels", {}), _HASH: hashed}
    labelled = {**template, "metadata": {**template["metadata"], "labels": labels}}
    selecting = {**selector, "matchLabels": {**selector.get("matchLabels", {}), _HASH: hashed}}
    metadata = {"name": f"{one['metadata']['name'][: 252 - len(hashed)]}-{hashed}", "labels": labels}
    return metadata, {"replicas": one["spec"]["replicas"], "template": labelled, "selector": selecting}


def _status(one: Json, new: Json | None, sets: list[Json]) -> Json:
    size, ready, updated = one["spec"]["replicas"], sum(map(_ready, sets)), new["status"]["replicas"] if new else 0
    counts = {
        "replicas": sum(item["status"]["replicas"] for item in sets),
        "updatedReplicas": updated,
        "readyReplicas": ready,
        "availableReplicas": ready,
        "unavailableReplicas": max(0, size - ready),
    }
    enough = ready >= size - size // 4
    done = new and updated == counts["replicas"] == ready == size
    available = {"reason": "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"}
    progressing = {"reason": "NewReplicaSetAvailable" if done else "ReplicaSetUpdated"}
    return {
        "observedGeneration": one["metadata"]["generation"],
        "terminatingReplicas": 0,  # pods are gone as soon as they are deleted
        **{key: count for key, count in counts.items() if count},
        "conditions": [
            {"type": "Available", "status": str(enough), **available},
            {"type": "Progressing", "status": "True", **progressing},
        ],
    }
