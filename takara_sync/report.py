"""The report of a pass: the result of each Takara, the JSON form and the exit code. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Literal

import msgspec
from msgspec import Struct

from takara_sync.conditions import Reason
from takara_sync.diff import Change
from takara_sync.errors import CutShort, ObjectError, PassStopped, TakaraSyncError
from takara_sync.objects import Key
from takara_sync.text import one_line

SCHEMA: Literal["takara-sync/report/v2"] = "takara-sync/report/v2"
_VALUE_MAX = 80  # characters of a value in a line of text


class Exit(IntEnum):
    """The exit codes of the command."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREADABLE = 3
    CUT_SHORT = 4
    TOO_MANY_CHANGES = 5
    BLOCKED = 6
    BUG = 70


class Result(StrEnum):
    """The result of a pass for one Takara: "Deployment ns/x was ..."."""

    CREATED = "created"
    UPDATED = "updated"
    TAKEN_OVER = "taken over"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"  # on purpose: being deleted, paused, not found
    CONTESTED = "contested"
    INVALID = "invalid"
    BLOCKED = "blocked"
    FAILED = "failed"
    NOT_REACHED = "not reached"  # the pass was cut short


CHANGED = frozenset({Result.CREATED, Result.UPDATED, Result.TAKEN_OVER})
_WERE = {Result.FAILED: "failed", Result.NOT_REACHED: "were not reached"}


class Outcome(Struct, frozen=True):
    """One Takara's line of the report.

    status_written: whether this pass wrote the status. ready: Ready, Stalled or Progressing, as in the status; empty if
    the pass did not get so far.
    """

    key: Key
    result: Result
    reason: Reason | Literal[""] = ""
    message: str = ""
    changes: tuple[Change, ...] = ()
    status_written: bool = False
    ready: str = ""

    @property
    def needs_a_person(self) -> Literal["", "blocked", "invalid"]:
        """`blocked` or `invalid`; empty if neither."""
        if self.result == Result.INVALID:
            return "invalid"
        return "blocked" if self.result == Result.BLOCKED or self.reason == Reason.CHANGED_ON_ADMISSION else ""

    @property
    def bug(self) -> bool:
        """Whether takara-sync or `Policy.desired` raised an exception."""
        return self.reason == Reason.BUG

    @property
    def detail(self) -> str:
        """One line after the result: the changes, and the reason with its message."""
        parts = [describe(change) for change in self.changes]
        if self.message:
            parts.append(f"{self.reason}: {self.message}")
        return one_line("; ".join(parts))


class Report(Struct, frozen=True):
    """What a pass did, or with dry_run would have done. Outcomes are sorted by key.

    error: why the pass stopped; None if it completed. next_start: the Takara with which the next pass should begin.
    """

    outcomes: tuple[Outcome, ...]
    started: datetime
    seconds: float
    error: PassStopped | None = None
    dry_run: bool = False
    next_start: Key | None = None

    @property
    def counts(self) -> Mapping[Result, int]:
        return Counter(outcome.result for outcome in self.outcomes)

    @property
    def exit(self) -> Exit:
        """The exit code. A bug comes first, then the error of the pass, not reached, failed, and blocked."""
        results = set(self.counts)
        if any(outcome.bug for outcome in self.outcomes):
            return Exit.BUG
        if self.error is not None:
            return Exit(self.error.exit_code)
        if Result.NOT_REACHED in results:
            return Exit.CUT_SHORT
        if Result.FAILED in results:
            return Exit.FAILED
        return Exit.BLOCKED if any(outcome.needs_a_person for outcome in self.outcomes) else Exit.OK

    def raise_for_failure(self) -> None:
        """Raise for every exit code but 0 and 6 (blocked or invalid Takaras).

        Raises:
            PassStopped: the error of the pass; CutShort also if the pass did not reach every Takara.
            ObjectError: at least one Takara failed; the message counts them and names the first.
        """
        if self.error is not None:
            raise self.error
        for result, error in ((Result.FAILED, ObjectError), (Result.NOT_REACHED, CutShort)):
            if found := [outcome for outcome in self.outcomes if outcome.result == result]:
                what = f"{len(found)} of {len(self.outcomes)} Takaras {_WERE[result]}"
                raise error(f"{what}, first {found[0].key}: {found[0].message}")

    def empty_of(self, namespaces: Iterable[str]) -> tuple[str, ...]:
        """The given namespaces without a Takara: perhaps a mistyped name.

        Empty if the pass stopped, because it may not have read them.
        """
        return (
            () if self.error else tuple(sorted(set(namespaces) - {outcome.key.namespace for outcome in self.outcomes}))
        )

    def document(self, code: Exit | None = None, namespaces: Iterable[str] = ()) -> ReportDocument:
        """The versioned form of `-o json`.

        code: the exit code of the process, if it differs from that of the report. namespaces: those of --namespace.
        """
        counts = self.counts
        return ReportDocument(
            schema=SCHEMA,
            exit=int(self.exit if code is None else code),
            error=error_document(self.error),
            started=self.started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            seconds=round(self.seconds, 3),
            dry_run=self.dry_run,
            counts={str(result): counts[result] for result in Result if result in counts},
            empty_namespaces=self.empty_of(namespaces),
            takaras=tuple(_outcome_document(outcome) for outcome in self.outcomes),
        )


# ------------------------------------------------------------------ the form of -o json (docs/report.schema.json)


class ErrorDocument(Struct, frozen=True):
    """The error that stopped the pass. `hint` says what to do next."""

    kind: str
    message: str
    hint: str


class OutcomeDocument(Struct, frozen=True, rename="camel"):
    """One Takara."""

    namespace: str
    name: str
    result: Result
    reason: str
    message: str
    ready: str
    status_written: bool
    changes: tuple[Change, ...]


class ReportDocument(Struct, frozen=True, rename="camel"):
    """One pass. `started` is RFC 3339 in UTC. `counts` has the number of Takaras by result, without zeros.
    `emptyNamespaces` has the namespaces of --namespace without a Takara."""

    schema: Literal["takara-sync/report/v2"]
    exit: int
    error: ErrorDocument | None
    started: str
    seconds: float
    dry_run: bool
    counts: dict[str, int]
    empty_namespaces: tuple[str, ...]
    takaras: tuple[OutcomeDocument, ...]


def error_document(error: TakaraSyncError | None) -> ErrorDocument | None:
    return None if error is None else ErrorDocument(type(error).__name__, error.message, error.hint)


def _outcome_document(outcome: Outcome) -> OutcomeDocument:
    key = outcome.key
    return OutcomeDocument(
        key.namespace,
        key.name,
        outcome.result,
        outcome.reason,
        outcome.message,
        outcome.ready,
        outcome.status_written,
        outcome.changes,
    )


# ------------------------------------------------------------------ in words


def summary(report: Report) -> str:
    """`12 Takaras: 2 created, 10 unchanged (0.3 s)`."""
    total, counts = len(report.outcomes), report.counts
    counted = ", ".join(f"{counts[result]} {result}" for result in Result if result in counts)
    plural = "" if total == 1 else "s"
    dry = "dry run: " if report.dry_run else ""
    return f"{dry}{total} Takara{plural}{': ' if counted else ''}{counted} ({report.seconds:.1f} s)"


def describe(change: Change) -> str:
    """`spec.replicas 7 -> 3 (set by kubectl, subresource scale)`; without a name if no other manager owns it."""
    through = f", subresource {change.subresource}" if change.subresource else ""
    when = f", {change.time}" if change.time else ""
    who = f" (set by {change.manager}{through}{when})" if change.manager else ""
    return one_line(f"{change.field} {_value(change.old)} -> {_value(change.new)}{who}")


def _value(value: object) -> str:
    """A value in plain form: a string unchanged, `none` for no value, anything else as JSON."""
    text = (
        value if isinstance(value, str) and value else "none" if value is None else msgspec.json.encode(value).decode()
    )
    return text if len(text) <= _VALUE_MAX else text[: _VALUE_MAX - 3] + "..."
