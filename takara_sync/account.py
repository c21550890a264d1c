"""The account of a pass: how far each Takara has come."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import TypeVar

from takara_sync.changes import Change
from takara_sync.errors import CutShort, PassStopped, Refused, Rejected, TakaraSyncError, Vanished
from takara_sync.fields import own_fields
from takara_sync.objects import Applied, Deployment, Key, Takara
from takara_sync.plan import Apply, Block, Create, Decision, Keep, Plan
from takara_sync.reasons import Reason
from takara_sync.report import CHANGED, Outcome, Report, Result

log = logging.getLogger("takara_sync")

T = TypeVar("T")
UNREAD = "Unread"  # the reason of who could not be decided


@dataclass(frozen=True)
class Handled:
    """How far one Takara has come in this pass."""

    decision: Decision
    result: Result = Result.NOT_REACHED
    deployment: Deployment | None = None
    applied: Applied | None = None
    changes: tuple[Change, ...] = ()
    failure: Exception | None = None
    told: bool = False
    ready: str = ""
    telling: bool = False

    @property
    def takara(self) -> Takara:
        return self.decision.takara

    @property
    def key(self) -> Key:
        return self.takara.key

    def failed(self, failure: Exception) -> Handled:
        """This Takara with what went wrong. What stops the pass leaves the result as far as it had come."""
        if isinstance(failure, PassStopped):
            return replace(self, failure=failure)
        result = Result.SKIPPED if isinstance(failure, Vanished) else Result.FAILED
        return replace(self, result=result, failure=failure)

    def outcome(self) -> Outcome:
        verdict = self.decision.verdict if isinstance(self.decision, Keep | Block) else None
        if self.failure is not None:
            reason, message = self._what_failed(), str(self.failure)
        elif self.result == Result.NOT_REACHED:
            reason, message = "NotReached", "The pass ended before its turn; the next one goes on from here."
        elif _is_overwritten(self.decision):
            reason, message = STATUS_OVERWRITTEN, _OVERWRITTEN
        elif self.result in CHANGED or verdict is None:
            reason, message = _why_kept(self.takara) if self.result == Result.SKIPPED else ("", "")
        else:
            reason, message = str(verdict.reason), verdict.message
        bug = self.failure is not None and not isinstance(self.failure, TakaraSyncError)
        return Outcome(self.key, self.result, reason, message, self.changes, self.told, bug, self.ready)

    def _what_failed(self) -> str:
        """As the status says it where it says it: a refused apply has the reason of the condition."""
        if isinstance(self.failure, Refused):
            return "StatusRefused" if self.telling else str(reason_of(self.failure))
        return type(self.failure).__name__


def reason_of(refusal: Refused) -> Reason:
    """The reason under which a refused write of a Deployment is told."""
    return Reason.APPLY_REJECTED if isinstance(refusal, Rejected) else Reason.APPLY_FAILED


STATUS_OVERWRITTEN = "StatusOverwritten"
_OVERWRITTEN = (
    "We had applied its Deployment, but its status holds nodes and nothing else: something writes it whole. Is the Go "
    "operator still running? Stop it; until then each pass tells the status anew."
)


def _is_overwritten(decision: Decision) -> bool:
    """Whether the status is as the Go operator leaves it, and the Deployment as we do: they work side by side."""
    told = decision.takara.told
    its_own = "nodes" in told and "observedGeneration" not in told
    return isinstance(decision, Apply) and its_own and bool(own_fields(decision.deployment.managed_fields))


def _why_kept(takara: Takara) -> tuple[str, str]:
    if takara.deleting:
        stuck = "" if type(takara.size) is int else " It has no usable size: if it does not go, set spec.size."
        return "Deleting", f"The Takara is being deleted; garbage collection takes its Deployment.{stuck}"
    return str(Reason.PAUSED), "The Takara is paused."


def begin(decision: Decision) -> Handled:
    """A Takara of which nothing is done yet."""
    return Handled(decision, deployment=None if isinstance(decision, Create) else decision.deployment)


class Book:
    """The account of a pass: how far each Takara has come."""

    def __init__(self, started: datetime, *, dry_run: bool) -> None:
        self._dry_run = dry_run
        self.error: PassStopped | None = None
        self._started, self._begun = started, time.monotonic()
        self._handled: dict[Key, Handled] = {}
        self._undecided: list[Outcome] = []

    def open(self, plan: Plan) -> None:
        self._handled = {decision.takara.key: begin(decision) for decision in plan.decisions}
        self._undecided = [Outcome(key, Result.FAILED, UNREAD, why) for key, why in plan.unread.items()]
        for key, bug in plan.broken.items():
            log.error("bug in takara-sync or in Policy.desired, met on %s", key, exc_info=bug)
            self._undecided.append(Outcome(key, Result.FAILED, type(bug).__name__, str(bug), bug=True))

    def in_turn(self, offset: int) -> Sequence[Handled]:
        """The Takaras in the order of execution: sorted, beginning at `offset`."""
        return turned(list(self._handled.values()), offset)

    def takaras(self) -> Iterable[Takara]:
        return (handled.takara for handled in self._handled.values())

    def enter(self, results: Iterable[Handled]) -> None:
        """Note the results of a step. Raises what stopped the pass: an error before a mere cut."""
        stops = []
        for handled in results:
            self._handled[handled.key] = handled
            if isinstance(handled.failure, PassStopped):
                stops.append(handled.failure)
        if stops:
            raise min(stops, key=lambda stop: isinstance(stop, CutShort))

    def report(self) -> Report:
        outcomes = chain(self._undecided, (handled.outcome() for handled in self._handled.values()))
        done = tuple(sorted(outcomes, key=lambda outcome: outcome.key))
        return Report(done, self._started, time.monotonic() - self._begun, self.error, self._dry_run)


# ------------------------------------------------------------------ turns


def next_offset(report: Report, offset: int) -> int:
    """Where the next pass is to begin: with the first Takara that this one, which began at `offset`, did not finish.

    How many it went through would not do: those at rest count too, and with as many of them as it likes to have, each
    second pass begins at the same place. One that is too short to tell anything goes on behind what it changed.
    """
    turn = turned([outcome for outcome in report.outcomes if outcome.reason != UNREAD], offset)
    unreached = [number for number, outcome in enumerate(turn) if outcome.result == Result.NOT_REACHED]
    untold = [number for number, outcome in enumerate(turn) if outcome.reason == CutShort.__name__]
    first = min(unreached + untold, default=0)
    return offset + (first or min(unreached, default=0))


def turned(items: list[T], offset: int) -> list[T]:
    """The items in the order of execution: beginning at `offset`."""
    start = offset % len(items) if items else 0
    return items[start:] + items[:start]
