"""The status that a Takara should have, and the JSON patch for it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from takara_sync.conditions import Reason, Verdict
from takara_sync.desired import label_value, selector_text
from takara_sync.objects import Applied, Deployment, Key, Pod, Takara
from takara_sync.text import canonical, one_line, rfc3339

NODES_MAX = 1000
_NAME_MAX = 252  # of name and hash in the name of a ReplicaSet; the Deployment controller shortens the name

Json = dict[str, Any]
_CONDITION_TEXTS = ("type", "status", "reason", "message", "lastTransitionTime")


# ------------------------------------------------------------------ nodes


def nodes_of(pods: Iterable[Pod], takaras: Iterable[Takara]) -> dict[Key, list[str]]:
    """The sorted names of the pods of each Takara's Deployment, without pods that are being deleted and strays.

    A stray has the right labels, but its controller is not a ReplicaSet of the Deployment. The name of such a
    ReplicaSet is the name of the Deployment, a dash, and the label `pod-template-hash` of its pods.
    """
    by_label = {(t.metadata.namespace, label_value(t.metadata.name)): t.key for t in takaras}
    names: dict[Key, set[str]] = {}
    for pod in pods:
        key = by_label.get((pod.namespace, pod.takara_cr))
        if key and not pod.deleting and pod.replica_set == _replica_set(key.name, pod.template_hash):
            names.setdefault(key, set()).add(pod.name)
    return {key: sorted(found)[:NODES_MAX] for key, found in names.items()}


def _replica_set(deployment: str, template_hash: str) -> str:
    return f"{deployment[: _NAME_MAX - len(template_hash)]}-{template_hash}"


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
    """All keys of the status that takara-sync owns.

    verdict: overrides the conditions derived from the Deployment. applied: the record of this pass's apply; None if it
    did not apply.
    """
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
    """The verdict from the status of the Deployment. https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status"""
    if deployment is not None and deployment.is_complete and deployment.replicas == takara.size:
        return Verdict(Reason.READY, f"All {takara.size} replicas are up to date and available.", stalled=False)
    if takara.paused:
        return Verdict(
            Reason.PAUSED,
            "The Deployment differs from the Takara and is left alone while paused.",
            stalled=False,
        )
    if deployment is None:
        return Verdict(Reason.PROGRESSING, "The Deployment does not exist yet.", stalled=False)
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
    if canonical({key: recorded[key] for key in wanted if key in recorded}) == canonical(wanted):  # the usual case
        return []
    differing = {
        key: value
        for key, value in wanted.items()
        if key not in recorded or canonical(recorded[key]) != canonical(value)
    }
    meta = takara.metadata
    tested = {"uid": meta.uid, "generation": meta.generation, "resourceVersion": meta.resource_version}
    patch = [_operation("test", f"/metadata/{name}", value) for name, value in tested.items()]
    status = msgspec.json.decode(takara.status)
    if status is None:
        patch.append(_operation("test", "/status", None))
    if not isinstance(status, dict):
        patch.append(_operation("add", "/status", {}))
    return patch + [_operation("add", f"/status/{key}", value) for key, value in differing.items()]


def _operation(kind: str, path: str, value: Any) -> Json:
    return {"op": kind, "path": path, "value": value}
