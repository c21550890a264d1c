"""The status that a Takara should have, given what was observed, and the patch that gets it there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from takara_sync.contest import rfc3339
from takara_sync.desired import label_value, selector_text
from takara_sync.fields import canonical
from takara_sync.objects import Applied, Deployment, Key, Pod, Takara
from takara_sync.reasons import Reason, Verdict, one_line

NODES_MAX = 1000
_NAME_MAX = 252  # of a ReplicaSet, hash and dash not counted; the Deployment controller cuts the name there

Json = dict[str, Any]
_CONDITION_TEXTS = ("type", "status", "reason", "message", "lastTransitionTime")


# ------------------------------------------------------------------ nodes


def nodes_of(pods: Iterable[Pod], takaras: Iterable[Takara]) -> dict[Key, list[str]]:
    """The sorted pod names of each Takara's own Deployment; pods being deleted and strays are not counted.

    A stray has the right labels but was not made by the Deployment's ReplicaSet, whose name is
    the Deployment's and the hash that is also its pods' label `pod-template-hash`.
    """
    by_label = {(t.metadata.namespace, label_value(t.metadata.name)): t.key for t in takaras}
    names: dict[Key, set[str]] = {}
    for pod in pods:
        labels = pod.metadata.labels or {}
        key = by_label.get((pod.metadata.namespace, labels.get("takara_cr", "")))
        if (
            key
            and pod.metadata.deletion_timestamp is None
            and _made_by(pod, key.name, labels.get("pod-template-hash", ""))
        ):
            names.setdefault(key, set()).add(pod.metadata.name)
    return {key: sorted(found)[:NODES_MAX] for key, found in names.items()}


def _made_by(pod: Pod, deployment: str, template_hash: str) -> bool:
    owner = pod.controller
    expected = f"{deployment[: _NAME_MAX - len(template_hash)]}-{template_hash}"
    return (
        owner is not None
        and owner.api_version.startswith("apps/")
        and (owner.kind, owner.name) == ("ReplicaSet", expected)
    )


# ------------------------------------------------------------------ status


def status_for(
    takara: Takara,
    deployment: Deployment | None,
    nodes: list[str],
    now: datetime,
    *,
    verdict: Verdict | None = None,
    applied: Applied | None = None,
) -> Json:
    """The keys of the status that are ours, in full. `verdict` overrules what the Deployment's status says;
    `applied` is what this pass's apply left behind, None where it made none."""
    if verdict is None:
        verdict = _observed(takara, deployment)
    recorded = {} if applied is None else {"deployment": msgspec.to_builtins(applied)}
    return recorded | {
        "observedGeneration": takara.metadata.generation,
        "nodes": nodes,
        "replicas": deployment.status.replicas if deployment else 0,
        "readyReplicas": deployment.status.ready_replicas if deployment else 0,
        "selector": selector_text(takara.metadata.name),
        "conditions": _conditions(takara, verdict, now),
    }


def _observed(takara: Takara, deployment: Deployment | None) -> Verdict:
    """What the Deployment's own status says. https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status"""
    if deployment is not None and _complete(deployment, takara.size):
        return Verdict(Reason.READY, f"All {takara.size} replicas are up to date and available.", stalled=False)
    if takara.paused:
        return Verdict(
            Reason.PAUSED,
            "The Deployment differs from the Takara and is left alone while paused.",
            stalled=False,
        )
    if deployment is None:
        return Verdict(Reason.PROGRESSING, "The Deployment is not there yet.", stalled=False)
    progress = deployment.status.condition("Progressing")
    if progress and progress.status == "False" and progress.reason == Reason.PROGRESS_DEADLINE_EXCEEDED:
        return Verdict(
            Reason.PROGRESS_DEADLINE_EXCEEDED,
            f"The Deployment made no progress in time: {progress.message} Look at its ReplicaSet and pods.",
        )
    failure = deployment.status.condition("ReplicaFailure")
    if failure and failure.status == "True":
        return Verdict(
            Reason.PROGRESSING, f"Pods cannot be created ({failure.reason}): {failure.message}", stalled=False
        )
    return Verdict(
        Reason.PROGRESSING,
        f"The Deployment has not reached {takara.size} up-to-date, available replicas yet.",
        stalled=False,
    )


def _complete(deployment: Deployment, size: int) -> bool:
    seen = deployment.status
    return (
        seen.observed_generation == deployment.metadata.generation
        and deployment.replicas == seen.replicas == seen.updated_replicas == seen.available_replicas == size
    )


# ------------------------------------------------------------------ conditions


def _conditions(takara: Takara, verdict: Verdict, now: datetime) -> list[Json]:
    """Ready and Stalled as they should be; conditions of other types as they are."""
    ready = "True" if verdict.reason == Reason.READY else "False"
    ours = [_condition(takara, "Ready", ready, verdict, now)]
    if verdict.stalled:
        ours.append(_condition(takara, "Stalled", "True", verdict, now))
    else:
        nothing = Verdict(Reason.NOT_STALLED, "Nothing waits for a person.", stalled=False)
        ours.append(_condition(takara, "Stalled", "False", nothing, now))
    return ours + _others(takara)


def _condition(takara: Takara, kind: str, status: str, verdict: Verdict, now: datetime) -> Json:
    was = takara.condition(kind)
    since = was.get("lastTransitionTime")
    moved = was.get("status") != status or not isinstance(since, str)
    return {
        "type": kind,
        "status": status,
        "observedGeneration": takara.metadata.generation,
        "lastTransitionTime": rfc3339(now) if moved else since,
        "reason": str(verdict.reason),
        "message": one_line(verdict.message),
    }


def _others(takara: Takara) -> list[Json]:
    """The conditions of other types; one that the schema would refuse, or a second of its type, is dropped."""
    conditions = takara.told.get("conditions")
    found: dict[str, Json] = {}
    for condition in conditions if isinstance(conditions, list) else ():
        whole = isinstance(condition, dict) and all(isinstance(condition.get(name), str) for name in _CONDITION_TEXTS)
        if whole and condition["type"] not in ("Ready", "Stalled"):
            found.setdefault(condition["type"], condition)
    return list(found.values())


def readiness(status: Json) -> str:
    """`Ready`, `Stalled`, or `Progressing` for anything in between."""
    true = {condition["type"] for condition in status["conditions"] if condition["status"] == "True"}
    return next((kind for kind in ("Ready", "Stalled") if kind in true), "Progressing")


# ------------------------------------------------------------------ the write


def patch_for(takara: Takara, wanted: Mapping[str, Any]) -> list[Json]:
    """The JSON patch (RFC 6902) from the status as read to `wanted`; empty where nothing differs.

    It holds only for the very object it was decided on, so that nobody's condition is lost: uid, generation and
    resourceVersion are tested. The old values themselves are not: the server compares a tested text byte by byte
    as JSON, and there "&" and "\\u0026" differ.
    """
    told = takara.told
    differing = {
        key: value for key, value in wanted.items() if key not in told or canonical(told[key]) != canonical(value)
    }
    if not differing:
        return []
    tests = [
        _test("/metadata/uid", takara.uid),
        _test("/metadata/generation", takara.metadata.generation),
        _test("/metadata/resourceVersion", takara.metadata.resource_version),
    ]
    if takara.status is None:
        tests.append(_test("/status", None))
    if not isinstance(takara.status, dict):
        tests.append(_add("/status", {}))
    return tests + [_add(f"/status/{key}", value) for key, value in differing.items()]


def _test(path: str, value: Any) -> Json:
    return {"op": "test", "path": path, "value": value}


def _add(path: str, value: Any) -> Json:
    return {"op": "add", "path": path, "value": value}
