"""What `once --wait` waits for, and one report for all of its passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from takara_sync.change_limit import number_of
from takara_sync.conditions import Reason
from takara_sync.objects import Key
from takara_sync.plan import changes_spec
from takara_sync.report import CHANGED, Outcome, Report, Result


def unready(report: Report, tolerated: Sequence[str]) -> dict[Key, str]:
    """The Takaras that --wait waits for, and what they are instead of Ready.

    These are not the Takaras that are deleted, paused, contested or tolerated.
    """
    left_alone = (Reason.DELETING, Reason.NOT_FOUND, Reason.PAUSED)
    return {
        each.key: "Stalled" if each.result == Result.BLOCKED else each.ready
        for each in report.takaras
        if each.ready != "Ready"
        and each.reason not in left_alone
        and each.result != Result.CONTESTED
        and (not each.needs_a_person or each.needs_a_person not in tolerated)
    }


def waiting_for(report: Report, waiting: Mapping[Key, str], seconds: float) -> str:
    """The line while --wait waits. waiting: see `unready`. seconds: how long it still may."""
    ready = sum(each.ready == "Ready" for each in report.takaras)
    return f"{ready} of {ready + len(waiting)} Takaras are Ready; waiting for at most {max(0.0, seconds):.0f} s more"


def left_of(max_changes: int | str | None, report: Report) -> int | None:
    """The rest of --max-changes after the changes of a report; `plan.is_change` says what counts."""
    changes = [each for each in report.takaras if each.result == Result.CREATED or changes_spec(each.changes)]
    limit = number_of(max_changes, len(report.takaras))
    return None if limit is None else max(0, limit - len(changes))


def merged(first: Report, then: Report) -> Report:
    """One report of two passes: the state after the second one, and the changes of both."""
    before = {outcome.key: outcome for outcome in first.takaras}
    outcomes = (_merged(before.get(outcome.key), outcome) for outcome in then.takaras)
    return structs.replace(then, takaras=tuple(outcomes), started=first.started, seconds=first.seconds + then.seconds)


def _merged(before: Outcome | None, now: Outcome) -> Outcome:
    if before is None or before.result not in CHANGED or now.result != Result.UNCHANGED:
        return now
    return structs.replace(
        now, result=before.result, changes=before.changes, status_written=before.status_written or now.status_written
    )
