"""The status that a Takara should have, and the JSON patch for it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import structs

from takara_sync.causes import Cause, from_deployment, recorded_cause
from takara_sync.conditions import Reason, Verdict
from takara_sync.desired import label_value, selector_text
from takara_sync.objects import Applied, Deployment, Key, Pod, Takara
from takara_sync.text import canonical, one_line, rfc3339

NODES_MAX = 1000
CAUSE_FOR = "causeFor"

Json = dict[str, Any]
_CONDITION_TEXTS = ("type", "status", "reason", "message", "lastTransitionTime")


# ------------------------------------------------------------------ nodes


def nodes_of(pods: Iterable[Pod], takaras: Iterable[Takara]) -> dict[Key, list[str]]:
    """The sorted names of the pods of each Takara's Deployment, without pods that are being deleted and strays."""
    by_label = {(t.metadata.namespace, label_value(t.metadata.name)): t.key for t in takaras}
    names: dict[Key, set[str]] = {}
    for pod in pods:
        key = by_label.get((pod.namespace, pod.takara_cr))
        if key and pod.belongs_to(key.name):
            names.setdefault(key, set()).add(pod.name)
    return {key: sorted(found)[:NODES_MAX] for key, found in names.items()}


# ------------------------------------------------------------------ status


def status_for(
    takara: Takara,
    deployment: Deployment | None,
    nodes: list[str],
    now: datetime,
    *,
    verdict: Verdict | None = None,
    applied: Applied | None = None,
    found: Cause | None = None,
) -> Json:
    """All keys of the status that takara-sync owns.

    verdict: overrides the conditions derived from the Deployment. applied: the record of this pass's apply; None if it
    did not apply. found: what this pass found among the pods; None if it did not read them.
    """
    cause_for = ""
    if verdict is None:
        verdict, cause_for = _observed(takara, deployment, found)
    if takara.unclear_pause:
        verdict = structs.replace(verdict, message=f"{verdict.message} {takara.unclear_pause}")
    recorded = {} if applied is None else {"deployment": msgspec.to_builtins(applied)}
    if cause_for:
        recorded[CAUSE_FOR] = cause_for
    return recorded | {
        "observedGeneration": takara.metadata.generation,
        "nodes": nodes,
        "replicas": deployment.status.replicas if deployment else 0,
        "readyReplicas": deployment.status.ready_replicas if deployment else 0,
        "selector": selector_text(takara.metadata.name),
        "conditions": _conditions(takara, verdict, now),
    }


def _observed(takara: Takara, deployment: Deployment | None, found: Cause | None) -> tuple[Verdict, str]:
    """The verdict from the Deployment and its pods, and the state of the Deployment if it follows from the pods.

    https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
    """
    if deployment is not None and deployment.is_complete and deployment.replicas == takara.size:
        return Verdict(Reason.READY, f"All {takara.size} replicas are up to date and available.", stalled=False), ""
    if takara.paused or deployment is None:
        return _PAUSED if takara.paused else _ABSENT, ""
    progress = deployment.status.condition("Progressing")
    late = progress is not None and (progress.status, progress.reason) == ("False", Reason.PROGRESS_DEADLINE_EXCEEDED)
    if cause := from_deployment(deployment):
        return structs.replace(cause, stalled=late), ""
    found = found or recorded_cause(takara, deployment)
    if found and found.verdict:
        return structs.replace(found.verdict, stalled=late), found.state
    words = f"The Deployment has not reached {takara.size} up-to-date, available replicas yet."
    if progress and late:
        words = f"The Deployment made no progress in time: {progress.message} Look at its ReplicaSet and pods."
    return Verdict(Reason.PROGRESS_DEADLINE_EXCEEDED if late else Reason.PROGRESSING, words, stalled=late), ""


_PAUSED = Verdict(
    Reason.PAUSED, "The Deployment differs from the Takara and is left alone while paused.", stalled=False
)
_ABSENT = Verdict(Reason.PROGRESSING, "The Deployment does not exist yet.", stalled=False)


# ------------------------------------------------------------------ conditions


def _conditions(takara: Takara, verdict: Verdict, now: datetime) -> list[Json]:
    """The condition Ready; Stalled if it is True; and the unchanged conditions of other types.

    https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md: a condition like Stalled, which is
    True in an abnormal state, exists only in that state.
    """
    recorded = takara.conditions
    ready = "True" if verdict.reason == Reason.READY else "False"
    ours = [_condition("Ready", ready, verdict, recorded, now)]
    if verdict.stalled:
        ours.append(_condition("Stalled", "True", verdict, recorded, now))
    return ours + _others(recorded)


def _condition(kind: str, status: str, verdict: Verdict, recorded: list[Json], now: datetime) -> Json:
    was = next((each for each in recorded if each.get("type") == kind), {})
    since = was.get("lastTransitionTime")
    moved = was.get("status") != status or not isinstance(since, str)
    return {
        "type": kind,
        "status": status,
        "lastTransitionTime": rfc3339(now) if moved else since,
        "reason": str(verdict.reason),
        "message": one_line(verdict.message),
    }


def _others(recorded: list[Json]) -> list[Json]:
    """The conditions of other types, without duplicates and without those that the schema would reject."""
    found: dict[str, Json] = {}
    for condition in recorded:
        if condition.get("type") not in ("Ready", "Stalled") and all(
            isinstance(condition.get(name), str) for name in _CONDITION_TEXTS
        ):
            found.setdefault(condition["type"], condition)
    return list(found.values())


def verdict_of(status: Json) -> Verdict:
    """What a status for which `status_for` was called says."""
    ready, *others = status["conditions"]
    return Verdict(Reason(ready["reason"]), ready["message"], any(each["type"] == "Stalled" for each in others))


def readiness(status: Json) -> str:
    """`Ready`, `Stalled`, or else `Progressing`."""
    true = {condition["type"] for condition in status["conditions"] if condition["status"] == "True"}
    return next((kind for kind in ("Ready", "Stalled") if kind in true), "Progressing")


# ------------------------------------------------------------------ the write


def patch_for(takara: Takara, wanted: Mapping[str, Any]) -> list[Json]:
    """The JSON patch (RFC 6902) from the recorded status to `wanted`; empty if nothing differs.

    It tests uid, generation and resourceVersion, so that it changes only the version that was read, and no condition of
    another program is lost. It does not test the old values: the server compares the JSON text of strings, in which "&"
    and "\\u0026" differ.
    """
    recorded = takara.recorded_status
    kept = {key: recorded[key] for key in (*wanted, CAUSE_FOR) if key in recorded}
    if canonical(kept) == canonical(wanted):  # the usual case
        return []
    differing = {
        key: value
        for key, value in wanted.items()
        if key not in recorded or canonical(recorded[key]) != canonical(value)
    }
    gone = [CAUSE_FOR] if CAUSE_FOR in recorded and CAUSE_FOR not in wanted else []
    meta = takara.metadata
    tested = {"uid": meta.uid, "generation": meta.generation, "resourceVersion": meta.resource_version}
    patch = [_operation("test", f"/metadata/{name}", value) for name, value in tested.items()]
    status = msgspec.json.decode(takara.status)
    if status is None:
        patch.append(_operation("test", "/status", None))
    if not isinstance(status, dict):
        patch.append(_operation("add", "/status", {}))
    patch += [_operation("add", f"/status/{key}", value) for key, value in differing.items()]
    return patch + [{"op": "remove", "path": f"/status/{key}"} for key in gone]


def _operation(kind: str, path: str, value: Any) -> Json:
    return {"op": kind, "path": path, "value": value}
