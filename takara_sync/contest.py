"""Who gets the replicas when somebody else keeps taking them. Pure.

A single `kubectl scale` is undone. A HorizontalPodAutoscaler on the Deployment would take the replicas back
each time, so a second take within ten minutes of ours is a contest: the replicas are left to the other, the
Takara says so, and we try again after 10 minutes, then 20, 40 ... up to a day. `managedFields` does not tell
how often a field went back and forth, so `status.deployment.replicasTakenBy` remembers.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec import Struct

from takara_sync.fields import REPLICAS, holders, holds, own_fields
from takara_sync.objects import Deployment, Takara, TakenBy
from takara_sync.reasons import Reason

UNKNOWN = "an unknown manager"
"""Who scaled to 0 through the scale subresource: the server takes the field out of our entry and gives it to nobody."""

AGAIN_WITHIN = timedelta(minutes=10)
LONGEST_WAIT = timedelta(days=1)
_TIMES_MAX = 1000  # far beyond the longest wait, far below what the schema takes


class Contest(Struct, frozen=True):
    """`holder` has the replicas; `left` says that they stay with it; `record` is what to remember."""

    holder: str = ""
    left: bool = False
    record: TakenBy | None = None


def contest_of(takara: Takara, deployment: Deployment, now: datetime) -> Contest:
    """Whether the replicas are taken back or left to who took them. `now` is aware, in UTC."""
    record = takara.applied.replicas_taken_by
    if deployment.replicas == takara.size:
        return Contest(record=record)
    told = _same_desire(takara) and takara.condition("Ready").get("reason") == Reason.REPLICAS_CONTESTED
    held = holds(own_fields(deployment.managed_fields), REPLICAS)
    if held and not told:  # it is the size that changed
        return Contest(record=record)
    # Held by us in a contest: the live value went into a body, and the other's fields may have been taken over.
    nobody = record.manager if held and record else UNKNOWN
    names = [entry.manager for entry in holders(deployment.managed_fields, REPLICAS)] or [nobody]
    if record is None or record.manager not in names or not _same_desire(takara):
        return Contest(names[0], record=TakenBy(names[0], rfc3339(now)))
    if _elapsed(record, now) < (_wait(record.times) if told else AGAIN_WITHIN):
        return Contest(record.manager, left=True, record=record)
    times = min(max(record.times, 1) + 1, _TIMES_MAX) if told else 1
    return Contest(record.manager, record=TakenBy(record.manager, rfc3339(now), times))


def _same_desire(takara: Takara) -> bool:
    """Whether the status was written for the Takara as it is now: a new generation is a new start."""
    return takara.told.get("observedGeneration") == takara.metadata.generation


def _wait(times: int) -> timedelta:
    doublings = min(max(times, 1) - 1, 10)
    return min(AGAIN_WITHIN * (1 << doublings), LONGEST_WAIT)


def _elapsed(record: TakenBy, now: datetime) -> timedelta:
    """How long ago we took the replicas back; "long ago" where the record is unusable or from the future."""
    try:
        at = datetime.fromisoformat(record.at)
        elapsed = now - (at if at.tzinfo else at.replace(tzinfo=UTC))
    except ValueError:
        return timedelta.max
    return elapsed if elapsed >= -AGAIN_WITHIN else timedelta.max


def rfc3339(moment: datetime) -> str:
    """A moment as Kubernetes writes it: UTC, whole seconds. RFC 3339."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
