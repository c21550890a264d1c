"""The controllers: Deployments to ReplicaSets to pods, rollouts, and pods that run because a tick says so.

After kubernetes `pkg/controller/deployment` and `replicaset`, one step a tick: what a step writes, the next one sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from takara_sync.simulator import garbage, rollouts
from takara_sync.simulator.fieldsets import Entry
from takara_sync.simulator.kinds import DEPLOYMENT, POD, REPLICA_SET, Kind
from takara_sync.simulator.wire import Json, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from takara_sync.simulator.objects import Objects

_MANAGER = "kube-controller-manager"


class Controllers:
    """Works on the objects; `runs` says which pods a node would start and find ready (all, unless told otherwise)."""

    def __init__(self, objects: Objects, runs: Callable[[Json], bool] = lambda _: True) -> None:
        self._objects = objects
        self.runs = runs

    def tick(self) -> bool:
        """One step of every controller; whether anything changed."""
        before = self._objects.version
        garbage.collect(self._objects)
        self._run_pods()
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
            if owner := _controller(item):
                found.setdefault(owner["uid"], []).append(item)
        return found

    def _save(self, kind: Kind, old: Json, subresource: str = "", **changed: Any) -> None:
        if all(old.get(key) == value for key, value in changed.items()):
            return
        writer = Entry(_MANAGER, "Update", kind.api_version, subresource, self._objects.time())
        self._objects.update(kind, old, {**old, **changed}, writer)

    def _create(self, kind: Kind, owner_kind: Kind, owner: Json, value: Json) -> None:
        made = owner["metadata"]
        reference = {
            "apiVersion": owner_kind.api_version,
            "kind": owner_kind.kind,
            "name": made["name"],
            "uid": made["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
        metadata = {**value["metadata"], "namespace": made["namespace"], "ownerReferences": [reference]}
        writer = Entry(_MANAGER, "Update", kind.api_version, "", self._objects.time())
        try:
            self._objects.create(kind, {**value, "metadata": metadata}, writer)
        except Refusal:  # a namespace that goes away; nothing else can refuse it
            return

    # -- pods -----------------------------------------------------------------------------------------------------

    def _run_pods(self) -> None:
        for pod in self._objects.all(POD):
            if (
                pod["status"].get("phase") == "Pending"
                and self.runs(pod)
                and "deletionTimestamp" not in pod["metadata"]
            ):
                self._save(POD, pod, "status", status={**pod["status"], **_running(pod, self._objects.time())})

    # -- ReplicaSets ----------------------------------------------------------------------------------------------

    def _reconcile_set(self, one: Json, pods: list[Json]) -> None:
        alive = [
            pod
            for pod in pods
            if "deletionTimestamp" not in pod["metadata"] and pod["status"].get("phase") not in ("Succeeded", "Failed")
        ]
        if "deletionTimestamp" not in one["metadata"]:
            for _ in range(one["spec"]["replicas"] - len(alive)):
                self._create(POD, REPLICA_SET, one, _pod(self._objects, one))
            doomed = sorted(alive, key=_is_ready)[: max(0, len(alive) - one["spec"]["replicas"])]
            for pod in doomed:
                self._objects.delete(POD, pod)
        ready = sum(map(_is_ready, alive))
        counts = {
            "replicas": len(alive),
            "fullyLabeledReplicas": len(alive),
            "readyReplicas": ready,
            "availableReplicas": ready,
        }
        status = {key: count for key, count in counts.items() if count or key == "replicas"}
        status |= {"observedGeneration": one["metadata"]["generation"], "terminatingReplicas": 0}
        self._save(REPLICA_SET, one, "status", status=status)

    # -- Deployments ----------------------------------------------------------------------------------------------

    def _reconcile_deployment(self, one: Json, sets: list[Json]) -> None:
        hashed = rollouts.template_hash(one["spec"]["template"])
        new = next((item for item in sets if item["metadata"]["labels"].get(rollouts.HASH) == hashed), None)
        old = [item for item in sets if item is not new]
        paused = one["spec"].get("paused", False)
        if "deletionTimestamp" not in one["metadata"] and not paused:
            self._roll(one, new, old)
        elif paused and (active := [item for item in sets if item["spec"]["replicas"]]):
            others = sum(item["spec"]["replicas"] for item in active[:-1])
            self._resize(active[-1], one["spec"]["replicas"] - others)
        self._tell(one, new, old)

    def _roll(self, one: Json, new: Json | None, old: list[Json]) -> None:
        wanted, sizes = rollouts.rolled(one, new, old)
        if new is None:
            self._create(REPLICA_SET, DEPLOYMENT, one, rollouts.replica_set(one, wanted, old))
            return
        self._resize(new, wanted)
        for item, size in zip(old, sizes, strict=True):
            self._resize(item, size)
        idle = [item for item in old if not item["spec"]["replicas"] and not item["status"].get("replicas")]
        surplus = max(0, len(idle) - one["spec"]["revisionHistoryLimit"])
        for item in sorted(idle, key=rollouts.revision)[:surplus]:
            self._objects.delete(REPLICA_SET, item)

    def _resize(self, one: Json, size: int) -> None:
        if one["spec"]["replicas"] != size:
            self._save(REPLICA_SET, one, spec={**one["spec"], "replicas": max(0, size)})

    def _tell(self, one: Json, new: Json | None, old: list[Json]) -> None:
        metadata = one["metadata"]
        if new and not one["spec"].get("paused"):
            numbered = {rollouts.REVISION: str(rollouts.revision(new) or 1)}
            metadata = {**metadata, "annotations": {**metadata.get("annotations", {}), **numbered}}
        status = rollouts.status(one, new, old, self._objects.time())
        self._save(DEPLOYMENT, one, "status", status=status, metadata=metadata)


def _controller(item: Json) -> Json | None:
    owners: Iterable[Json] = item["metadata"].get("ownerReferences", ())
    return next((owner for owner in owners if owner.get("controller")), None)


def _pod(objects: Objects, one: Json) -> Json:
    template, prefix = one["spec"]["template"], f"{one['metadata']['name']}-"
    return {
        "metadata": {**template["metadata"], "name": objects.generated(prefix), "generateName": prefix},
        "spec": template["spec"],
    }


def _is_ready(pod: Json) -> bool:
    return any(item["type"] == "Ready" and item["status"] == "True" for item in pod["status"].get("conditions", ()))


def _running(pod: Json, now: str) -> Json:
    kinds = ("Initialized", "ContainersReady", "PodScheduled", "Ready")
    states = [
        {
            "name": item["name"],
            "image": item["image"],
            "imageID": "",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
            "lastState": {},
        }
        for item in pod["spec"]["containers"]
    ]
    return {
        "phase": "Running",
        "startTime": now,
        "containerStatuses": states,
        "conditions": [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in kinds],
    }
