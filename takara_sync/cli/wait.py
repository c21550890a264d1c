"""What `once --wait` waits for, and one report of all its passes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from takara_sync.conditions import Reason
from takara_sync.objects import Key
from takara_sync.plan import changes_spec
from takara_sync.report import CHANGED, Outcome, Report, Result


def unready(report: Report, tolerated: Sequence[str]) -> dict[Key, str]:
    """The Takaras that --wait waits for, with what they are instead of Ready.

    It does not wait for what is being deleted, gone, paused, left to another manager, or tolerated.
    """
    waiting = [each for each in report.outcomes if each.ready != "Ready" and not _is_settled(each)]
    return {
        each.key: "Stalled" if each.result == Result.BLOCKED else each.ready
        for each in waiting
        if not each.needs_a_person or each.needs_a_person not in tolerated
    }


def _is_settled(outcome: Outcome) -> bool:
    settled = (Reason.DELETING, Reason.NOT_FOUND, Reason.PAUSED)
    return outcome.reason in settled or outcome.result == Result.CONTESTED


def left_of(max_changes: int | None, report: Report) -> int | None:
    """What --max-changes still allows after the changes of a report."""
    return None if max_changes is None else max(0, max_changes - sum(map(_is_change, report.outcomes)))


def _is_change(outcome: Outcome) -> bool:
    """Whether --max-changes counts this; see plan.is_change."""
    return outcome.result == Result.CREATED or changes_spec(outcome.changes)


def merged(first: Report, then: Report) -> Report:
    """One report of two passes: how things are now, and what either changed."""
    before = {outcome.key: outcome for outcome in first.outcomes}
    outcomes = (_together(before.get(outcome.key), outcome) for outcome in then.outcomes)
    return structs.replace(then, outcomes=tuple(outcomes), started=first.started, seconds=first.seconds + then.seconds)


def _together(before: Outcome | None, now: Outcome) -> Outcome:
    if before is None or before.result not in CHANGED or now.result != Result.UNCHANGED:
        return now
    return structs.replace(
        now, result=before.result, changes=before.changes, status_written=before.status_written or now.status_written
    )
