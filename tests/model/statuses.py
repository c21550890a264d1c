"""What must hold of each status that is written: it claims what this pass saw, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.model import oracle
from tests.model.passes import Pass
from tests.support.takaras import Json


def breaches_of_a_status(one: Pass, before: Json | None, after: Json, took: set[str]) -> Iterator[str]:
    """`took`: who ever held the replicas of its Deployment."""
    name, status = after["metadata"]["name"], after["status"]
    takara = one.sight.takaras.get(name)
    if takara is None or before is None or takara["metadata"]["uid"] != after["metadata"]["uid"]:
        yield f"{name}: the status of another Takara was written"
        return
    yield from (f"{name}: {each}" for each in _beside_the_status(before, after))
    if one.sight.pods is None:
        yield f"{name}: a status without a list of the pods"
    generation, recorded = status["observedGeneration"], (before.get("status") or {}).get("observedGeneration", 0)
    if generation not in one.sight.generations[name] or generation < recorded:
        yield f"{name}: observedGeneration {generation} after {recorded}, seen {one.sight.generations[name]}"
    yield from (f"{name}: {each}" for each in _of_the_deployment(one, takara, status, before.get("status") or {}, took))
    yield from (f"{name}: {each}" for each in _of_the_conditions(before, after))


def _beside_the_status(before: Json, after: Json) -> Iterator[str]:
    for part in ("spec", "metadata"):
        old, new = ({**value.get(part, {})} for value in (before, after))
        for volatile in ("resourceVersion", "managedFields"):
            old.pop(volatile, None)
            new.pop(volatile, None)
        if old != new:
            yield f"a status write changed the {part}"


def _of_the_deployment(one: Pass, takara: Json, status: Json, before: Json, took: set[str]) -> Iterator[str]:
    name = takara["metadata"]["name"]
    shown = [seen for seen in one.sight.shown.get(name, []) if oracle.ours(seen, takara)]
    size = takara["spec"].get("size") if isinstance(takara.get("spec"), dict) else None
    if condition(status, "Ready").get("status") == "True" and not any(oracle.complete(seen, size) for seen in shown):
        yield "Ready, but never seen complete"
    counted = [seen.get("status", {}).get("replicas", 0) for seen in shown]
    if status["replicas"] not in [0, *counted]:
        yield f"replicas {status['replicas']} were never seen"
    pods = {pod["metadata"]["name"] for pod in one.sight.pods or [] if oracle.belongs(pod, name)}
    if strays := set(status["nodes"] or []) - pods:
        yield f"nodes that do not belong to it: {sorted(strays)}"
    if status["nodes"] and not shown:
        yield "nodes without a Deployment of its own"
    said = (status.get("deployment") or {}).get("replicasTakenBy")
    if said and said != (before.get("deployment") or {}).get("replicasTakenBy") and said["manager"] not in took:
        yield f"replicas were never taken by {said['manager']}"


def _of_the_conditions(before: Json, after: Json) -> Iterator[str]:
    for kind in _types(before):
        old, new = condition(before.get("status"), kind), condition(after["status"], kind)
        if kind not in ("Ready", "Stalled") and old != new:
            yield f"the condition {kind} of somebody else was changed"
        moved = old["lastTransitionTime"] != new.get("lastTransitionTime")
        if kind in ("Ready", "Stalled") and moved and old["status"] == new.get("status"):
            yield f"the condition {kind} moved its lastTransitionTime without its status"


def _types(takara: Json) -> list[str]:
    status = takara.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    return [one["type"] for one in conditions or []]


def condition(status: Any, kind: str) -> Json:
    """The condition of this type, empty where there is none."""
    conditions = status.get("conditions") if isinstance(status, dict) else None
    found: Json = next((one for one in conditions or [] if one["type"] == kind), {})
    return found
