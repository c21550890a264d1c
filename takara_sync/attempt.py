"""The progress of one Takara in a pass, and its line in the report."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec import structs

from takara_sync.conditions import INVALID, REJECTED, Reason, Verdict
from takara_sync.diff import Change
from takara_sync.errors import NotFound, ObjectError, Rejected
from takara_sync.managed_fields import BEFORE_FIRST_APPLY, own_fields
from takara_sync.objects import FIELD_MANAGER, Applied, Deployment, Key, Takara
from takara_sync.plan import Apply, Block, Create, Decision, Keep, Plan, admission_verdict
from takara_sync.report import Outcome, Result
from takara_sync.status import Json
from takara_sync.text import some

log = logging.getLogger("takara_sync")


@dataclass(slots=True)
class Attempt:
    """One Takara in one pass. Only one worker at a time uses it.

    deployment: as it was read or written last. changed: the change that this pass made so far. applied: the record of
    this pass's apply. error: of the last try; None if it succeeded. stale: the objects may have changed since the
    decision. limited: --max-changes did not allow it. unanswered: a decision whose write got no response; the server
    may have executed it. status_sent: a status update was sent, and perhaps executed. patch: what it still has to send.
    """

    decision: Decision
    key: Key = field(init=False)
    deployment: Deployment | None = field(init=False)
    changed: Result | None = None
    changes: tuple[Change, ...] = ()
    applied: Applied | None = None
    error: Exception | None = None
    tries: int = 0
    stale: bool = False
    limited: bool = False
    unanswered: Decision | None = None
    nodes: list[str] = field(default_factory=list)
    patch: list[Json] = field(default_factory=list)
    ready: str = ""
    status_sent: bool = False
    status_rejected: bool = False

    def __post_init__(self) -> None:
        self.key, self.deployment = self.decision.takara.key, self.decision.deployment

    @property
    def takara(self) -> Takara:
        return self.decision.takara

    @property
    def writes(self) -> bool:
        """Whether the decision needs a write to a Deployment."""
        return isinstance(self.decision, Create | Apply)

    @property
    def result(self) -> Result:
        """The result so far. Until another try succeeds, a Takara with an error counts as failed."""
        if self.error is not None and not isinstance(self.error, NotFound):
            return Result.FAILED
        if self.changed is not None:
            return self.changed
        if self.error is not None:
            return Result.SKIPPED
        if isinstance(self.decision, Keep | Block):
            return _result_of(self.decision)
        return Result.NOT_REACHED if self.applied is None or self.limited else Result.UNCHANGED

    @property
    def admission(self) -> Verdict | None:
        """The verdict if an admission webhook or policy changed the last apply of this pass; None otherwise."""
        changed = self.applied.changed_on_admission if self.applied else None
        return admission_verdict(changed.field) if changed else None

    @property
    def writes_no_status(self) -> bool:
        """Whether to write no status: the Takara is being deleted, its format is newer, or no result is known."""
        newer = isinstance(self.decision, Block) and self.decision.verdict.reason == Reason.NEWER_FORMAT
        failed = self.error is not None and not isinstance(self.error, Rejected)
        unreached = self.result == Result.NOT_REACHED and not self.limited
        return self.takara.deleting or newer or failed or unreached

    def verdict(self) -> Verdict | None:
        """The verdict that overrides the conditions derived from the Deployment; None if there is none."""
        if isinstance(self.error, Rejected):
            return Verdict(Reason(self.error.reason), self.error.message)
        return self.admission or self.decision.verdict

    def outcome(self) -> Outcome:
        """The line of the report."""
        result, written = self.result, self.status_sent and not self.patch
        why = self._why(result)
        line = Outcome(self.key, result, changes=self.changes, status_written=written, ready=self.ready)
        return structs.replace(line, reason=why.reason, message=why.message) if why else line

    def _why(self, result: Result) -> Verdict | None:
        """The reason and message of the line; None if the result says everything."""
        if isinstance(self.error, ObjectError):
            reason = Reason.STATUS_REJECTED if self.status_rejected else Reason(self.error.reason)
            return Verdict(reason, str(self.error))
        if self.error is not None:
            return Verdict(Reason.BUG, f"{type(self.error).__name__}: {self.error}")
        if self.limited:
            return Verdict(Reason.TOO_MANY_CHANGES, "--max-changes does not allow this change.")
        if result == Result.NOT_REACHED:
            return _NOT_REACHED
        if isinstance(self.decision, Apply):
            return self.admission or _legacy_manager_active(self.decision)
        skipped = result == Result.SKIPPED
        return self.admission or self.decision.verdict or (_skipped(self.takara) if skipped else None)


_NOT_REACHED = Verdict(
    Reason.NOT_REACHED, "The pass ended before it reached this Takara; the next pass continues here."
)


def _skipped(takara: Takara) -> Verdict:
    if not takara.deleting:
        return Verdict(Reason.PAUSED, "The Takara is paused.")
    stuck = "" if type(takara.size) is int else " If it does not go, set spec.size to a number."
    return Verdict(Reason.DELETING, f"The Takara is being deleted; garbage collection removes its Deployment.{stuck}")


def _legacy_manager_active(decision: Apply) -> Verdict | None:
    """The verdict if the Go operator still writes objects that we took over; None otherwise."""
    takara, entries = decision.takara, decision.deployment.managed_fields
    if not own_fields(entries) and takara.applied.uid != decision.deployment.uid:
        return None
    if "nodes" in takara.recorded_status and "observedGeneration" not in takara.recorded_status:
        what = "Another program replaced its status by one that holds only nodes."
        return Verdict(Reason.STATUS_OVERWRITTEN, f"{what} {_STOP}")
    managers = [manager for manager in decision.taken_from if manager not in (BEFORE_FIRST_APPLY, FIELD_MANAGER)]
    what = f"After the take-over {some(managers)} wrote the Deployment again."
    return Verdict(Reason.LEGACY_MANAGER_ACTIVE, f"{what} {_STOP}") if managers else None


_STOP = "Is the Go operator still running? Stop it."


def _result_of(decision: Keep | Block) -> Result:
    """The result of a decision that writes no Deployment."""
    reason = decision.verdict.reason if decision.verdict else None
    if isinstance(decision, Block):
        return Result.INVALID if reason in INVALID else Result.BLOCKED
    if decision.contest.left:
        return Result.CONTESTED
    if reason in REJECTED:
        return Result.FAILED
    return Result.SKIPPED if decision.takara.deleting or decision.takara.paused or reason else Result.UNCHANGED


def begin(plan: Plan) -> dict[Key, Attempt]:
    """An attempt for each decision."""
    return {attempt.key: attempt for attempt in map(Attempt, plan.decisions)}


def undecided(plan: Plan) -> Iterator[Outcome]:
    """The lines of the report for Takaras without a decision, because of a read error or a bug."""
    for key, why in plan.unread.items():
        yield Outcome(key, Result.FAILED, Reason.UNREAD, why)
    for key, bug in plan.broken.items():
        log.error("bug in takara-sync or in Policy.desired, met on %s", key, exc_info=bug)
        yield Outcome(key, Result.FAILED, Reason.BUG, f"{type(bug).__name__}: {bug}")


def finished(attempt: Attempt) -> Outcome:
    """The line of the report; also writes a line to the log. `Reconciler` has already logged the changes."""
    outcome = attempt.outcome()
    if attempt.error is not None and outcome.result == Result.FAILED:
        level = logging.ERROR
    elif outcome.reason in (Reason.STATUS_OVERWRITTEN, Reason.LEGACY_MANAGER_ACTIVE):
        level = logging.WARNING
    else:
        new = outcome.status_written and (outcome.needs_a_person or outcome.result == Result.CONTESTED)
        level = logging.INFO if new else logging.DEBUG
    if log.isEnabledFor(level):
        why = f": {outcome.reason}: {outcome.message}" if outcome.reason else ""
        extra = {"takara": str(attempt.key), "result": str(outcome.result)}
        log.log(level, "Deployment %s %s%s", attempt.key, outcome.result, why, extra=extra)
    return outcome
