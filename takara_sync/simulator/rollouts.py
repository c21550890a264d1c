"""Deployments, as pure functions: how far a rollout may go now, and what the status says about it.

After kubernetes `pkg/controller/deployment` (`rolling.go`, `sync.go`, `progress.go`).
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from takara_sync.simulator.wire import Json

if TYPE_CHECKING:
    from collections.abc import Iterable

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
_NAME_LIMIT = 253
_DIGITS = "bcdfghjklmnpqrstvwxz2456789"


def template_hash(template: Json) -> str:
    """The name of a template, in the alphabet of the real one; what it hashes is its own affair."""
    labels = {key: item for key, item in template.get("metadata", {}).get("labels", {}).items() if key != HASH}
    stated = {**template, "metadata": {**template.get("metadata", {}), "labels": labels}}
    digest = hashlib.sha256(msgspec.json.encode(stated, order="deterministic")).digest()
    return "".join(_DIGITS[byte % len(_DIGITS)] for byte in digest[:10])


def rolled(one: Json, new: Json | None, old: list[Json]) -> tuple[int, list[int]]:
    """The size that the new ReplicaSet may have by now, and the sizes of the old ones."""
    size, current = one["spec"]["replicas"], new["spec"]["replicas"] if new else 0
    if one["spec"]["strategy"]["type"] == "Recreate":
        running = sum(item["status"].get("replicas", 0) for item in old)
        return (current if running else size), [0] * len(old)
    surge, lacking = _allowances(one)
    room = max(0, size + surge - current - sum(item["spec"]["replicas"] for item in old))
    wanted = min(size, current + room)
    spare = max(0, sum(_ready(item) for item in [*old, *([new] if new else [])]) - (size - lacking))
    sizes = []
    for item in old:  # pods that are not ready cost nothing to take away
        idle = item["spec"]["replicas"] - _ready(item)
        cut = min(item["spec"]["replicas"], idle + spare)
        spare -= max(0, cut - idle)
        sizes.append(item["spec"]["replicas"] - cut)
    return wanted, sizes if new else [item["spec"]["replicas"] for item in old]


def _allowances(one: Json) -> tuple[int, int]:
    """How many pods there may be too many and too few; never neither."""
    size, rolling = one["spec"]["replicas"], one["spec"]["strategy"].get("rollingUpdate", {})
    surge = _share(rolling.get("maxSurge", 0), size, up=True)
    lacking = _share(rolling.get("maxUnavailable", 0), size, up=False)
    return surge, lacking if surge or lacking else 1


def _share(value: int | str, size: int, *, up: bool) -> int:
    if isinstance(value, int):
        return value
    percent = int(value.rstrip("%")) * size
    return -(-percent // 100) if up else percent // 100


def _ready(item: Json) -> int:
    return int(item["status"].get("readyReplicas", 0))


def replica_set(one: Json, size: int, old: Iterable[Json]) -> Json:
    """The ReplicaSet for a Deployment's template as it is now."""
    template, selector = one["spec"]["template"], one["spec"]["selector"]
    hashed = template_hash(template)
    labels = {**template["metadata"].get("labels", {}), HASH: hashed}
    name = f"{one['metadata']['name'][: _NAME_LIMIT - 1 - len(hashed)]}-{hashed}"
    metadata = {"name": name, "labels": labels, "annotations": {REVISION: str(max(map(revision, old), default=0) + 1)}}
    spec = {
        "replicas": size,
        "template": {**template, "metadata": {**template["metadata"], "labels": labels}},
        "selector": {**selector, "matchLabels": {**selector.get("matchLabels", {}), HASH: hashed}},
    }
    return {"metadata": metadata, "spec": spec}


def revision(item: Json) -> int:
    """The number of a ReplicaSet in its Deployment's history."""
    return int(item["metadata"].get("annotations", {}).get(REVISION, "0"))


def status(one: Json, new: Json | None, old: list[Json], now: str) -> Json:
    """The status of a Deployment with these ReplicaSets; `now` as timestamps are written."""
    everything = [*old, *([new] if new else [])]
    ready = sum(map(_ready, everything))
    counts = {
        "replicas": sum(item["status"].get("replicas", 0) for item in everything),
        "updatedReplicas": new["status"].get("replicas", 0) if new else 0,
        "readyReplicas": ready,
        "availableReplicas": ready,
        "unavailableReplicas": max(0, one["spec"]["replicas"] - ready),
    }
    return {
        "observedGeneration": one["metadata"]["generation"],
        "terminatingReplicas": 0,  # pods are gone as soon as they are deleted
        **{key: count for key, count in counts.items() if count},
        "conditions": [_available(one, counts, now), _progressing(one, new, counts, now)],
    }


def _available(one: Json, counts: dict[str, int], now: str) -> Json:
    needed = one["spec"]["replicas"] - _allowances(one)[1] * (one["spec"]["strategy"]["type"] == "RollingUpdate")
    if counts["availableReplicas"] >= needed:
        told = "True", "MinimumReplicasAvailable", "Deployment has minimum availability."
    else:
        told = "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
    return _condition(one, "Available", told, now)


def _progressing(one: Json, new: Json | None, counts: dict[str, int], now: str) -> Json:
    size = one["spec"]["replicas"]
    of = f'ReplicaSet "{new["metadata"]["name"]}"' if new else f'Deployment "{one["metadata"]["name"]}"'
    moved = any(counts[key] > one["status"].get(key, 0) for key in ("updatedReplicas", "readyReplicas"))
    if new and counts["updatedReplicas"] == counts["replicas"] == counts["availableReplicas"] == size:
        told = "True", "NewReplicaSetAvailable", f"{of} has successfully progressed."
    elif not moved and _overdue(one, now):
        told = "False", "ProgressDeadlineExceeded", f"{of} has timed out progressing."
    else:
        told = "True", "ReplicaSetUpdated", f"{of} is progressing."
    return _condition(one, "Progressing", told, now, moved=moved)


def _overdue(one: Json, now: str) -> bool:
    last = _last(one, "Progressing")
    if last is None or last["reason"] == "NewReplicaSetAvailable":
        return False
    passed = datetime.fromisoformat(now) - datetime.fromisoformat(last["lastUpdateTime"])
    return bool(last["status"] == "False" or passed.total_seconds() > one["spec"]["progressDeadlineSeconds"])


def _last(one: Json, of: str) -> Json | None:
    found: list[Json] = [item for item in one["status"].get("conditions", ()) if item["type"] == of]
    return found[0] if found else None


def _condition(one: Json, of: str, told: tuple[str, str, str], now: str, *, moved: bool = False) -> Json:
    last = _last(one, of)
    if last and (last["status"], last["reason"], last["message"]) == told and not moved:
        return last
    since = last["lastTransitionTime"] if last and last["status"] == told[0] else now
    times = {"lastUpdateTime": now, "lastTransitionTime": since}
    return {"type": of, "status": told[0], **times, "reason": told[1], "message": told[2]}
