"""The Events of a pass: what it changed, and what a status says now that it did not say before. Pure.

https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, structs

from takara_sync.conditions import CAUSES, Reason, Verdict
from takara_sync.diff import Change
from takara_sync.objects import API_VERSION, KIND, Deployment, Takara
from takara_sync.report import Result, describe
from takara_sync.text import digest, one_line

REPORTER = "takara.org/takara-sync"
_CHANGES_MAX = 10

Json = dict[str, Any]


class Event(Struct, frozen=True):
    """An Event about a Takara. deployment: its Deployment, if there is one. reason: CamelCase. note: one line."""

    takara: Takara
    deployment: Deployment | None
    reason: str
    note: str
    warning: bool = False

    def manifest(self, now: datetime) -> Json:
        """The object for `events.k8s.io/v1`.

        Its name depends only on the Takara, the reason, the note and the hour. So a create is enough: if the Event was
        sent before, the server responds with a conflict. `now` is timezone-aware.
        """
        moment = now.astimezone(UTC)
        name = digest([self.takara.uid, self.reason, self.note, f"{moment:%Y-%m-%dT%H}"])[:32]
        about = {"apiVersion": API_VERSION, "kind": KIND, **_names(self.takara)}
        related = {"apiVersion": "apps/v1", "kind": "Deployment"} | _names(self.deployment) if self.deployment else None
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"takara-sync-{name}", "namespace": self.takara.key.namespace},
            "eventTime": f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}",
            "reportingController": REPORTER,
            "reportingInstance": "takara-sync",
            "action": "Reconcile",
            "type": "Warning" if self.warning else "Normal",
            "reason": self.reason,
            "note": self.note,
            "regarding": about,
        } | ({"related": related} if related else {})


def _names(one: Takara | Deployment) -> Json:
    return {"namespace": one.key.namespace, "name": one.key.name, "uid": one.uid}


# ------------------------------------------------------------------ what is worth an Event


def change_event(
    takara: Takara, deployment: Deployment | None, result: Result | None, changes: tuple[Change, ...]
) -> Event | None:
    """The Event for the change of a Deployment; None if no value changed, as after an upgrade of takara-sync."""
    if result == Result.CREATED:
        return Event(takara, deployment, "Created", f"Created Deployment {takara.key} with {takara.size} replicas.")
    if result == Result.TAKEN_OVER:
        also = f" It changed: {_described(changes)}" if changes else " No value changed."
        return Event(takara, deployment, "TakenOver", one_line(f"Took over Deployment {takara.key}.{also}"))
    if result == Result.UPDATED and changes:
        return Event(takara, deployment, "Changed", one_line(f"Changed the Deployment: {_described(changes)}"))
    return None


def _described(changes: Iterable[Change]) -> str:
    """Without the times of the other managers: two programs that repeat a fight have one Event an hour."""
    every = [describe(structs.replace(change, time="")) for change in changes]
    more = [f"and {len(every) - _CHANGES_MAX} more"] if len(every) > _CHANGES_MAX else []
    return "; ".join(every[:_CHANGES_MAX] + more)


def condition_event(takara: Takara, deployment: Deployment | None, says: Verdict) -> Event | None:
    """The Event for a status that says something else than before; None if nobody has to know.

    takara: as it was before the status was written. says: what its status says now.
    """
    was = {kind: takara.condition(kind).get("reason") for kind in ("Ready", "Stalled")}
    if says.reason == was["Ready"] and (not says.stalled or says.reason == was["Stalled"]):
        return None
    if says.reason == Reason.READY:
        return Event(takara, deployment, "Ready", says.message)
    told = says.stalled or says.reason in CAUSES or says.reason == Reason.REPLICAS_CONTESTED
    return Event(takara, deployment, str(says.reason), says.message, warning=True) if told else None
