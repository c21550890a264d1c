"""What a case of the truth table of takara_sync.plan is made of; the cases are in cases.py."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from takara_sync.plan import Apply, Create, Decision, Policy
from takara_sync.text import rfc3339
from tests.unit.build import (
    NOW,
    PAUSED,
    Json,
    condition,
    deployment_json,
    owner,
    settled,
    takara_json,
)

GONE: Json = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
TEMPLATES = Policy(allow_templates=True)
LABEL: Json = {"f:metadata": {"f:labels": {"f:app": {}}}}
ODD_TEMPLATES: dict[str, Json] = {"metadata": {"metadata": ["a"]}, "labels": {"metadata": {"labels": ["a"]}}}
A_MINUTE_AGO = rfc3339(NOW - timedelta(minutes=1))
JUST_NOW = {"replicasTakenBy": {"manager": "hpa", "at": A_MINUTE_AGO}}
LOOP = Policy(interval=timedelta(seconds=10))


class Case(NamedTuple):
    """A Takara, the Deployment of its name, and the `shape` of the decision."""

    name: str
    takara: Json
    deployment: Json | None
    shape: tuple[Any, ...]
    policy: Policy = Policy()


def applied_at(live: Json, time: str) -> Json:
    """The Deployment after another apply of ours, at this time, which no status records."""
    live["metadata"]["managedFields"][0]["time"] = time
    return live


def shape(decision: Decision) -> tuple[Any, ...]:
    """What tells decisions apart: the kind, then the reason or the replicas, then whose the Deployment is."""
    if isinstance(decision, Create):
        return ("Create", decision.manifest["spec"]["replicas"])
    if isinstance(decision, Apply):
        over = "after take-over" if decision.managed_fields else "at once"
        return ("Apply", decision.manifest["spec"]["replicas"], over)
    reason = str(decision.verdict.reason) if decision.verdict else ""
    return (type(decision).__name__, reason, "ours" if decision.deployment else "none of ours")


def invalid(name: str, reason: str, *, policy: Policy = Policy(), **spec: Any) -> Case:  # noqa: B008 - frozen
    return Case(name, takara_json(spec=spec), None, ("Block", reason, "none of ours"), policy)


def not_ours(name: str, reason: str, takara: Json | None = None, **metadata: Any) -> Case:
    """Everything is as recorded but the owner."""
    return Case(name, takara or settled(), deployment_json(**metadata), ("Block", reason, "none of ours"))


def pause(word: str, shape: tuple[Any, ...]) -> Case:
    """A new Takara with this word in the annotation."""
    return Case(f"paused: {word!r}", takara_json(annotations=dict.fromkeys(PAUSED, word)), None, shape)


def unselected(live: Json) -> Json:
    """The Deployment with another selector."""
    live["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    return live


def predecessor(name: str, since: str | None, kind: str, *, reason: str = "", **more: Any) -> Case:
    """The Deployment belongs to an older Takara of this name; Ready has said so since then."""
    one = settled()
    reason = reason or "DeploymentOfPredecessor"
    one["status"]["conditions"] = [condition("Ready", "False", reason, since)] if since else []
    live = deployment_json(ownerReferences=[owner(uid="older", **more)])
    return Case(name, one, live, (kind, "DeploymentOfPredecessor", "none of ours"))


def admission(minutes: float, times: int = 1, *, size: int = 3, generation: int = 1) -> Json:
    """A Takara whose last apply, so long ago, came back with another image."""
    at = rfc3339(NOW - timedelta(minutes=minutes))
    record = {"changedOnAdmission": {"field": "spec.image", "at": at, "times": times}}
    return settled(size=size, record=record, generation=generation)


def rejected(name: str, uid: str, shape: tuple[Any, ...], reason: Any = "ApplyFailed", **more: Any) -> Case:
    """The server rejected the write of this generation. A uid decides when the next try is due."""
    one = takara_json(uid=uid, generation=more.pop("generation", 1))
    stalled = condition("Stalled", more.pop("stalled", "True"), reason)
    one["status"] = {"observedGeneration": 1, "conditions": [stalled]}
    live = deployment_json(ownerReferences=[owner(uid=uid)]) if more.pop("live", False) else None
    return Case(name, one, live, shape, more.pop("policy", LOOP))
