"""What to do when another manager sets the replicas again and again. Pure.

takara-sync undoes a single `kubectl scale`. But a HorizontalPodAutoscaler on the Deployment would set the replicas
again each time. So if the same manager sets them again within ten minutes after we set them back, there is a contest:
we leave the replicas to this manager, say so in the status, and try again after 10 minutes, then 20, 40 ... up to a
day. `managedFields` does not count such changes, so `status.deployment.replicasTakenBy` does.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from takara_sync.backoff import SHORTEST, TIMES_MAX, elapsed, next_try, wait_after
from takara_sync.conditions import Reason, Verdict
from takara_sync.managed_fields import REPLICAS, holders, owned_by_us
from takara_sync.objects import Deployment, Takara, TakenBy
from takara_sync.text import one_line, rfc3339

UNKNOWN = "an unknown manager"
"""The holder after a scale to 0 by the scale subresource: no managedFields entry owns the replicas then."""


class Contest(Struct, frozen=True):
    """holder: the manager that set the replicas. left: whether it keeps them. record: the value for the status."""

    holder: str = ""
    left: bool = False
    record: TakenBy | None = None


def contest_of(takara: Takara, deployment: Deployment, now: datetime) -> Contest:
    """Whether we set the replicas back or leave them to another manager. `now` is timezone-aware, in UTC.

    A new generation of the Takara ends a contest, and starts none.
    """
    record = takara.applied.replicas_taken_by
    if deployment.replicas == takara.size:
        return Contest(record=record)
    contested = takara.is_recorded and takara.condition("Ready").get("reason") == Reason.REPLICAS_CONTESTED
    ours = owned_by_us(deployment.managed_fields).replicas
    if ours and not contested:  # spec.size changed
        return Contest(record=record)
    # We own the replicas in a contest if we applied other drift: that manifest had the live value.
    nobody = record.manager if ours and record else UNKNOWN
    names = [entry.manager for entry in holders(deployment.managed_fields, REPLICAS)] or [nobody]
    if record is None or record.manager not in names or not takara.is_recorded:
        return Contest(names[0], record=TakenBy(names[0], rfc3339(now)))
    if elapsed(record.at, now) < (wait_after(record.times) if contested else SHORTEST):
        return Contest(record.manager, left=True, record=record)
    times = min(max(record.times, 1) + 1, TIMES_MAX) if contested else 1
    return Contest(record.manager, record=TakenBy(record.manager, rfc3339(now), times))


def contested_verdict(takara: Takara, contest: Contest) -> Verdict | None:
    """The verdict while we leave the replicas to another manager; None otherwise."""
    record = contest.record
    if not contest.left or record is None:
        return None
    return Verdict(
        Reason.REPLICAS_CONTESTED,
        f"{one_line(contest.holder)[:200]} keeps setting the replicas of the Deployment, so takara-sync leaves them to "
        f"it until {next_try(record.at, record.times)}. Edit spec.size, or point the autoscaler at Takara "
        f"{takara.metadata.name} instead of its Deployment.",
        stalled=False,
    )
