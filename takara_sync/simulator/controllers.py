"""The controllers: Deployments to ReplicaSets to pods that run because a tick says so; and garbage collection.

After kubernetes `pkg/controller`, one step a tick: what a step writes, the next one sees.
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import msgspec

from takara_sync.simulator.fields import Entry
from takara_sync.simulator.kinds import DEPLOYMENT, NAMESPACE, POD, REPLICA_SET, Kind
from takara_sync.simulator.wire import Json, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from takara_sync.simulator.objects import Objects

_HASH = "pod-template-hash"
_COLLECTOR = Entry("kube-controller-manager", "Update", "v1")
_REVISION = "deployment.kubernetes.io/revision"


class Controllers:
    """Works on the objects; `runs` says which pods a node would start and find ready (all, unless told otherwise)."""

    def __init__(self, objects: Objects, runs: Callable[[Json], bool] = lambda _: True) -> None:
        self._objects = objects
        self.runs = runs

    def tick(self) -> bool:
        """One step of every controller; whether anything changed."""
        before = self._objects.version
        _collect(self._objects)
        for pod in self._objects.all(POD):
            if pod["status"].get("phase") == "Pending" and self.runs(pod):
                self._save(POD, pod, "status", status={**pod["status"], **_running(pod, self._objects.time())})
        sets, pods = self._owned(REPLICA_SET), self._owned(POD)
        for one in self._objects.all(REPLICA_SET):
            self._reconcile_set(one, pods.get(one["metadata"]["uid"], []))
        for one in self._objects.all(DEPLOYMENT):
            self._reconcile_deployment(one, sets.get(one["metadata"]["uid"], []))
        return self._objects.version != before

    def settle(self, steps: int = 1000) -> None:
        """Ticks until nothing changes any more.  Raises RuntimeError where that does not come within the steps."""
        if not any(not self.tick() for _ in range(steps)):
            raise RuntimeError(f"the controllers did not settle within {steps} ticks")

    def _owned(self, kind: Kind) -> dict[str, list[Json]]:
        found: dict[str, list[Json]] = {}
        for item in self._objects.all(kind):
            for owner in item["metadata"].get("ownerReferences", ()):
                if owner.get("controller"):
                    found.setdefault(owner["uid"], []).append(item)
        return found

    def _writer(self, kind: Kind, subresource: str = "") -> Entry:
        return Entry("kube-controller-manager", "Update", kind.api_version, subresource, self._objects.time())

    def _save(self, kind: Kind, old: Json, subresource: str = "", **changed: Any) -> None:
        if any(old.get(key) != value for key, value in changed.items()):
            self._objects.update(kind, old, {**old, **changed}, self._writer(kind, subresource))

    def _create(self, kind: Kind, owner: Json, metadata: Json, spec: Json) -> None:
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
        reference |= {"uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
        place = {"namespace": owner["metadata"]["namespace"], "ownerReferences": [reference]}
        try:
            self._objects.create(kind, {"metadata": {**metadata, **place}, "spec": spec}, self._writer(kind))
        except Refusal:  # a namespace that goes away; nothing else can refuse it
            return

    def _reconcile_set(self, one: Json, pods: list[Json]) -> None:
        template, size, prefix = one["spec"]["template"], one["spec"]["replicas"], f"{one['metadata']['name']}-"
        alive = [pod for pod in pods if _stays(pod) and pod["status"].get("phase") not in ("Succeeded", "Failed")]
        if _stays(one):
            for _ in range(size - len(alive)):
                self._create(POD, one, {**template["metadata"], "generateName": prefix}, template["spec"])
            for pod in sorted(alive, key=_runs)[: max(0, len(alive) - size)]:
                self._objects.delete(POD, pod)
        counts = {"replicas": len(alive), "readyReplicas": sum(map(_runs, alive))}
        self._save(REPLICA_SET, one, "status", status=counts)

    def _reconcile_deployment(self, one: Json, sets: list[Json]) -> None:
        hashed = _template_hash(one["spec"]["template"])
        new = next((item for item in sets if item["metadata"]["labels"].get(_HASH) == hashed), None)
        old = [item for item in sets if item is not new]
        metadata = one["metadata"]
        if _stays(one):
            wanted, sizes = _rolled(one, new, old)
            if new is None:
                revision = max(map(_revision, old), default=0) + 1
                self._create(REPLICA_SET, one, *_replica_set(one, hashed, wanted, revision))
            else:
                for item, size in zip([new, *old], [wanted, *sizes], strict=True):
                    self._save(REPLICA_SET, item, spec={**item["spec"], "replicas": size})
                numbered = {**metadata.get("annotations", {}), _REVISION: str(_revision(new))}
                metadata = {**metadata, "annotations": numbered}
        status = _status(one, new, sets, self._objects.time())
        self._save(DEPLOYMENT, one, "status", status=status, metadata=metadata)


def _stays(item: Json) -> bool:
    return "deletionTimestamp" not in item["metadata"]


def _runs(pod: Json) -> bool:
    return bool(pod["status"].get("phase") == "Running")


def _running(pod: Json, now: str) -> Json:
    started = {"ready": True, "restartCount": 0, "state": {"running": {"startedAt": now}}}
    states = [{"name": item["name"], "image": item["image"], **started} for item in pod["spec"]["containers"]]
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": now}
    return {"phase": "Running", "startTime": now, "containerStatuses": states, "conditions": [ready]}


def _template_hash(template: Json) -> str:
    """The name of a template, in the alphabet of the real one; what it hashes is its own affair."""
    digest = hashlib.sha256(msgspec.json.encode(template, order="deterministic")).digest()
    return "".join("bcdfghjklmnpqrstvwxz2456789"[byte % 27] for byte in digest[:10])


def _revision(item: Json) -> int:
    return int(item["metadata"].get("annotations", {}).get(_REVISION, "1"))


def _replica_set(one: Json, hashed: str, size: int, revision: int) -> tuple[Json, Json]:
    """Metadata and spec of the ReplicaSet for a Deployment's template as it is now."""
    template, selector = one["spec"]["template"], one["spec"]["selector"]
    labels = {**template["metadata"].get("labels", {}), _HASH: hashed}
    name = f"{one['metadata']['name'][: 252 - len(hashed)]}-{hashed}"
    labelled = {**template, "metadata": {**template["metadata"], "labels": labels}}
    selecting = {**selector, "matchLabels": {**selector.get("matchLabels", {}), _HASH: hashed}}
    metadata = {"name": name, "labels": labels, "annotations": {_REVISION: str(revision)}}
    return metadata, {"replicas": size, "template": labelled, "selector": selecting}


def _rolled(one: Json, new: Json | None, old: list[Json]) -> tuple[int, list[int]]:
    """The size that the new ReplicaSet may have by now, and the sizes of the old ones: by the default strategy."""
    size, current = one["spec"]["replicas"], new["spec"]["replicas"] if new else 0
    room = max(0, size + math.ceil(size / 4) - current - sum(item["spec"]["replicas"] for item in old))
    spare = max(0, sum(map(_ready, [*old, *([new] if new else [])])) - size + size // 4)
    sizes = []
    for item in old:  # pods that are not ready cost nothing to take away
        idle = item["spec"]["replicas"] - _ready(item)
        cut = min(item["spec"]["replicas"], idle + spare)
        spare -= max(0, cut - idle)
        sizes.append(item["spec"]["replicas"] - cut)
    return min(size, current + room), sizes


def _ready(item: Json) -> int:
    return int(item["status"].get("readyReplicas", 0))


def _status(one: Json, new: Json | None, sets: list[Json], now: str) -> Json:
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
    told = [
        ("Available", str(enough), "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"),
        ("Progressing", "True", "NewReplicaSetAvailable" if done else "ReplicaSetUpdated"),
    ]
    return {
        "observedGeneration": one["metadata"]["generation"],
        "terminatingReplicas": 0,  # pods are gone as soon as they are deleted
        **{key: count for key, count in counts.items() if count},
        "conditions": [_condition(one, *condition, now) for condition in told],
    }


def _condition(one: Json, of: str, status: str, reason: str, now: str) -> Json:
    last: Json = next((item for item in one["status"].get("conditions", ()) if item["type"] == of), {})
    since = last["lastTransitionTime"] if last.get("status") == status else now
    updated = last["lastUpdateTime"] if last.get("reason") == reason else now
    return {"type": of, "status": status, "reason": reason, "lastTransitionTime": since, "lastUpdateTime": updated}


def _collect(objects: Objects) -> None:
    """One round: dependents of what is gone go, and what waited for them goes after them."""
    for kind, item in _everything(objects):
        metadata = item["metadata"]
        owners = metadata.get("ownerReferences", [])
        alive = [owner for owner in owners if not owner_is_gone(objects, metadata["namespace"], owner)]
        if owners and not alive:
            objects.delete(kind, item)
        elif alive != owners:
            _change(objects, kind, item, ownerReferences=alive)
    for kind, item in _everything(objects):
        waits = {"foregroundDeletion", "orphan"} & {*item["metadata"].get("finalizers", ())}
        if waits and not _waiting(objects, item, orphan="orphan" in waits):
            rest = [one for one in item["metadata"]["finalizers"] if one not in waits]
            _change(objects, kind, item, finalizers=rest)
    for namespace in objects.all(NAMESPACE):
        if "deletionTimestamp" in namespace["metadata"]:
            held = [*_everything(objects, namespace["metadata"]["name"])]
            for kind, item in held:
                objects.delete(kind, item)
            if not held:
                objects.remove(NAMESPACE, namespace)


def owner_is_gone(objects: Objects, namespace: str, owner: Json) -> bool:
    """Whether no object of that kind and name has the owner's uid; a kind that is not served is never gone."""
    named = (owner["apiVersion"], owner["kind"])
    kind = next((one for one in objects.kinds if (one.api_version, one.kind) == named), None)
    found = kind and objects.get(kind, namespace, owner["name"])
    return kind is not None and (not found or found["metadata"]["uid"] != owner["uid"])


def _everything(objects: Objects, namespace: str = "") -> Iterator[tuple[Kind, Json]]:
    """Every object as it is when its turn comes."""
    for kind in (one for one in objects.kinds if one.namespaced):
        for item in objects.all(kind, namespace):
            if stands := objects.get(kind, item["metadata"]["namespace"], item["metadata"]["name"]):
                yield kind, stands


def _change(objects: Objects, kind: Kind, item: Json, **metadata: list[Json]) -> None:
    objects.update(kind, item, {**item, "metadata": {**item["metadata"], **metadata}}, _COLLECTOR)


def _waiting(objects: Objects, owner: Json, *, orphan: bool) -> bool:
    """Carries a foreground or orphaning deletion on; whether a dependent still holds it up."""
    waiting = False
    for kind, item in _everything(objects, owner["metadata"]["namespace"]):
        owners = item["metadata"].get("ownerReferences", [])
        kept = [one for one in owners if one["uid"] != owner["metadata"]["uid"]]
        if kept != owners and (orphan or kept):
            _change(objects, kind, item, ownerReferences=kept)
        elif kept != owners:
            waiting |= any(one.get("blockOwnerDeletion") for one in owners)
            if "deletionTimestamp" not in item["metadata"]:
                objects.delete(kind, item, "Foreground")
    return waiting
