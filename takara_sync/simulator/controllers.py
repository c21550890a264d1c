"""The controllers: Deployments make ReplicaSets, these make pods, pods run; and garbage is collected.

After kubernetes `pkg/controller`, but in ticks: each tick is one step of every controller.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress

from takara_sync.simulator.fields import Entry
from takara_sync.simulator.kinds import DEPLOYMENT, POD, REPLICA_SET, Kind
from takara_sync.simulator.objects import Objects
from takara_sync.simulator.wire import Json, Refusal
from takara_sync.text import digest

_HASH = "pod-template-hash"
_OVER = ("Succeeded", "Failed")
_RUNNING = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
_FOREGROUND, _ORPHAN = "foregroundDeletion", "orphan"  # finalizers that end with the dependents


class Controllers:
    """The controllers of a cluster; `runs(pod)` is whether a node would start this pod, and by default always true."""

    def __init__(self, objects: Objects, runs: Callable[[Json], bool] = lambda _: True) -> None:
        self._objects = objects
        self.runs = runs

    def tick(self) -> bool:
        """One step of every controller; returns whether anything changed."""
        with self._objects.lock:
            before = self._objects.version
            self._collect()
            for pod in self._objects.all(POD):
                if pod["status"].get("phase") == "Pending" and self.runs(pod):
                    self._write(POD, pod, {**pod, "status": {**pod["status"], **_RUNNING}}, "status")
            sets, pods = self._owned(REPLICA_SET), self._owned(POD)
            for one in self._objects.all(REPLICA_SET):
                self._reconcile_set(one, pods[one["metadata"]["uid"]])
            for one in self._objects.all(DEPLOYMENT):
                self._reconcile_deployment(one, sets[one["metadata"]["uid"]])
            return self._objects.version != before

    def settle(self, steps: int = 1000) -> None:
        """Ticks until nothing changes any more. Raises RuntimeError where that takes more than so many ticks."""
        if not any(not self.tick() for _ in range(steps)):
            raise RuntimeError(f"the controllers did not settle within {steps} ticks")

    def _owned(self, kind: Kind) -> dict[str, list[Json]]:
        """The objects of a kind by the uid of their owner."""
        found = defaultdict(list)
        for item in self._objects.all(kind):
            for owner in _owners(item):
                found[owner["uid"]].append(item)
        return found

    def _create(self, kind: Kind, owner: Json, metadata: Json, spec: Json) -> None:
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
        reference |= {"uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
        place = {"namespace": owner["metadata"]["namespace"], "ownerReferences": [reference]}
        self._write(kind, None, {"metadata": {**metadata, **place}, "spec": spec})

    def _write(self, kind: Kind, old: Json | None, new: Json, subresource: str = "") -> None:
        writer = Entry("kube-controller-manager", "Update", kind.api_version, subresource, self._objects.time())
        if new != old:
            with suppress(Refusal):  # an admission hook refuses it; the next tick tries again
                self._objects.write(kind, old, new, writer)

    def _reconcile_set(self, one: Json, pods: list[Json]) -> None:
        template, size, prefix = one["spec"]["template"], one["spec"]["replicas"], f"{one['metadata']['name']}-"
        alive = [pod for pod in pods if not _deleting(pod) and pod["status"].get("phase") not in _OVER]
        if not _deleting(one):
            for _ in range(size - len(alive)):
                self._create(POD, one, {**template["metadata"], "generateName": prefix}, template["spec"])
            for pod in sorted(alive, key=_runs)[: max(0, len(alive) - size)]:
                self._objects.delete(POD, pod)
        counts = {"replicas": len(alive), "readyReplicas": sum(map(_runs, alive))}
        self._write(REPLICA_SET, one, {**one, "status": counts}, "status")

    def _reconcile_deployment(self, one: Json, sets: list[Json]) -> None:
        """All new pods start at once; the old ones end when the new ones run."""
        size, wanted = one["spec"]["replicas"], _replica_set(one)
        new = next((item for item in sets if item["metadata"]["name"] == wanted["metadata"]["name"]), None)
        if not _deleting(one):
            if new is None:
                self._create(REPLICA_SET, one, **wanted)
            for old in sets:
                if old is new or (new and new["status"].get("readyReplicas", 0) >= size):
                    spec = {**old["spec"], "replicas": size if old is new else 0}
                    self._write(REPLICA_SET, old, {**old, "spec": spec})
        self._write(DEPLOYMENT, one, {**one, "status": _status(one, new, sets)}, "status")

    def _collect(self) -> None:
        """Deletes what has no owner any more, and ends the deletions that waited for their dependents."""
        everything = [(kind, item) for kind in self._objects.kinds for item in self._objects.all(kind)]
        present = {item["metadata"]["uid"]: item for _, item in everything}
        owning = {owner["uid"] for _, item in everything for owner in _owners(item)}
        served = {(kind.api_version, kind.kind) for kind in self._objects.kinds}
        for kind, item in everything:
            metadata, owners = item["metadata"], _owners(item)
            fates = [fate(owner, present, served) for owner in owners]
            kept = [owner for owner, found in zip(owners, fates, strict=True) if found == "keep"]
            if _waits(item) and metadata["uid"] not in owning:
                rest = [one for one in metadata["finalizers"] if one not in (_FOREGROUND, _ORPHAN)]
                self._write(kind, item, {**item, "metadata": {**metadata, "finalizers": rest}})
            elif {*fates} == {"delete"}:
                self._objects.delete(kind, item)
            elif kept != owners:
                self._write(kind, item, {**item, "metadata": {**metadata, "ownerReferences": kept}})


def fate(owner: Json, present: dict[str, Json], served: set[tuple[str, str]]) -> str:
    """What an owner means for its dependent: "keep" it; "delete" it; or "orphan" it, which ends the reference.

    present: the objects by uid. served: apiVersion and kind of what is served; of others nobody knows if they exist.
    """
    if (owner["apiVersion"], owner["kind"]) not in served:
        return "keep"
    waits = _waits(present[owner["uid"]]) if owner["uid"] in present else {_FOREGROUND}
    return "delete" if _FOREGROUND in waits else "orphan" if waits else "keep"


def _owners(item: Json) -> list[Json]:
    return [*item["metadata"].get("ownerReferences", ())]


def _waits(item: Json) -> set[str]:
    """The finalizers by which a deletion waits for the dependents of the object."""
    return {_FOREGROUND, _ORPHAN} & {*item["metadata"].get("finalizers", ())} if _deleting(item) else set()


def _deleting(item: Json) -> bool:
    return "deletionTimestamp" in item["metadata"]


def _runs(pod: Json) -> bool:
    return bool(pod["status"].get("phase") == "Running")


def _replica_set(one: Json) -> dict[str, Json]:
    """Metadata and spec of the ReplicaSet for a Deployment's template as it is now.

    The hash of the template differs from that of a real cluster.
    """
    template, selector, hashed = one["spec"]["template"], one["spec"]["selector"], digest(one["spec"]["template"])[:10]
    labels = {**template["metadata"].get("labels", {}), _HASH: hashed}
    labelled = {**template, "metadata": {**template["metadata"], "labels": labels}}
    selecting = {**selector, "matchLabels": {**selector.get("matchLabels", {}), _HASH: hashed}}
    metadata = {"name": f"{one['metadata']['name'][: 252 - len(hashed)]}-{hashed}", "labels": labels}
    spec = {"replicas": one["spec"]["replicas"], "template": labelled, "selector": selecting}
    return {"metadata": metadata, "spec": spec}


def _status(one: Json, new: Json | None, sets: list[Json]) -> Json:
    size, total = one["spec"]["replicas"], sum(item["status"]["replicas"] for item in sets)
    updated = new["status"]["replicas"] if new else 0
    ready = sum(item["status"].get("readyReplicas", 0) for item in sets)
    counts = {"replicas": total, "updatedReplicas": updated, "readyReplicas": ready, "availableReplicas": ready}
    counts["unavailableReplicas"] = max(0, size - ready)
    enough, done = ready >= size - size // 4, new and updated == total == ready == size
    available = "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"
    progressing = "NewReplicaSetAvailable" if done else "ReplicaSetUpdated"
    return {
        "observedGeneration": one["metadata"]["generation"],
        "terminatingReplicas": 0,  # pods are gone as soon as they are deleted
        **{key: count for key, count in counts.items() if count},
        "conditions": [
            {"type": "Available", "status": str(enough), "reason": available},
            {"type": "Progressing", "status": "True", "reason": progressing},
        ],
    }
