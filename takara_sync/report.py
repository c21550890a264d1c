"""What a pass did, in past participles that complete "Deployment ns/x was ...". Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any, Literal

import msgspec
from msgspec import Struct

from takara_sync.changes import Change
from takara_sync.errors import ObjectError, PassStopped, TakaraSyncError
from takara_sync.objects import Key
from takara_sync.reasons import one_line

SCHEMA: Literal["takara-sync/report/v1"] = "takara-sync/report/v1"
_VALUE_MAX = 80  # characters of a value in a line for people


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
    """What became of one Takara."""

    CREATED = "created"
    UPDATED = "updated"
    TAKEN_OVER = "taken over"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"  # on purpose: being deleted, paused, gone meanwhile
    CONTESTED = "contested"
    INVALID = "invalid"
    BLOCKED = "blocked"
    FAILED = "failed"
    NOT_REACHED = "not reached"  # the pass was cut short


CHANGED = frozenset({Result.CREATED, Result.UPDATED, Result.TAKEN_OVER})
NEEDS_A_PERSON = frozenset({Result.INVALID, Result.BLOCKED})


class Outcome(Struct, frozen=True):
    """One Takara's line of the report.

    `told`: its status was written. `bug`: takara-sync is to blame. `ready`: Ready, Stalled or Progressing, as its
    status says; empty where the pass did not come that far.
    """

    key: Key
    result: Result
    reason: str = ""
    message: str = ""
    changes: tuple[Change, ...] = ()
    told: bool = False
    bug: bool = False
    ready: str = ""

    @property
    def detail(self) -> str:
        """What is to be said behind the result, in one line: the changes, and why it is not simply done."""
        parts = [describe(change) for change in self.changes]
        if self.message and self.result not in CHANGED:
            parts.append(f"{self.reason}: {self.message}")
        return one_line("; ".join(parts))


class Report(Struct, frozen=True):
    """What a pass did, or with `dry_run` would have done. Outcomes are sorted by key.

    `error`: why it stopped, None where it went to its end.
    """

    outcomes: tuple[Outcome, ...]
    started: datetime
    seconds: float
    error: PassStopped | None = None
    dry_run: bool = False

    @property
    def counts(self) -> Mapping[Result, int]:
        return Counter(outcome.result for outcome in self.outcomes)

    @property
    def exit(self) -> Exit:
        """The exit code. What stopped the pass wins over a cut, that over a failure, that over a block."""
        results = set(self.counts)
        if any(outcome.bug for outcome in self.outcomes):
            return Exit.BUG
        if self.error is not None:
            return Exit(self.error.exit_code)
        if Result.NOT_REACHED in results:
            return Exit.CUT_SHORT
        if Result.FAILED in results:
            return Exit.FAILED
        return Exit.BLOCKED if results & NEEDS_A_PERSON else Exit.OK

    def raise_for_failure(self) -> None:
        """Raise what a caller must not overlook: the error that stopped the pass, or the first failure.

        Raises:
            PassStopped: the pass did not go to its end.
            ObjectError: at least one Takara failed; the message counts them. Blocked ones raise nothing.
        """
        if self.error is not None:
            raise self.error
        failed = [outcome for outcome in self.outcomes if outcome.result == Result.FAILED]
        if failed:
            first = failed[0]
            raise ObjectError(
                f"{len(failed)} of {len(self.outcomes)} Takaras failed, first {first.key}: {first.message}"
            )

    def empty_of(self, namespaces: Iterable[str]) -> tuple[str, ...]:
        """Those of these namespaces that hold no Takara: it may not be the place that was meant.

        None where the pass stopped: nothing is known of them then.
        """
        return (
            () if self.error else tuple(sorted(set(namespaces) - {outcome.key.namespace for outcome in self.outcomes}))
        )

    def document(self, code: Exit | None = None, namespaces: Iterable[str] = ()) -> ReportDocument:
        """The versioned form of `-o json`.

        `code`: the exit code of the process, where it is not that of the report. `namespaces`: those that were asked.
        """
        return ReportDocument(
            schema=SCHEMA,
            exit=int(self.exit if code is None else code),
            error=error_document(self.error),
            started=self.started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            seconds=round(self.seconds, 3),
            dry_run=self.dry_run,
            counts={str(result): self.counts[result] for result in Result if result in self.counts},
            empty_namespaces=self.empty_of(namespaces),
            takaras=tuple(_outcome_document(outcome) for outcome in self.outcomes),
        )

    def as_json(self, code: Exit | None = None) -> dict[str, Any]:
        """`document` as plain JSON values."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self.document(code)))
        return plain


# ------------------------------------------------------------------ the form of -o json (docs/report.schema.json)


class ErrorDocument(Struct, frozen=True):
    """What stopped the pass. `hint` says what to do next."""

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
    """One pass. `started` is RFC 3339 in UTC; `counts` are by result, those of 0 left out; `emptyNamespaces` are those
    of the namespaces asked for that hold no Takara."""

    schema: Literal["takara-sync/report/v1"]
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
        outcome.told,
        outcome.changes,
    )


# ------------------------------------------------------------------ in words


def summary(report: Report) -> str:
    """`12 Takaras: 2 created, 10 unchanged (0.3 s)`."""
    total = len(report.outcomes)
    counted = ", ".join(f"{report.counts[result]} {result}" for result in Result if result in report.counts)
    plural = "" if total == 1 else "s"
    dry = "dry run: " if report.dry_run else ""
    return f"{dry}{total} Takara{plural}{': ' if counted else ''}{counted} ({report.seconds:.1f} s)"


def describe(change: Change) -> str:
    """`spec.replicas 7 -> 3 (set by kubectl, subresource scale)`; nobody is named where nobody else holds it."""
    through = f", subresource {change.subresource}" if change.subresource else ""
    when = f", {change.time}" if change.time else ""
    who = f" (set by {change.manager}{through}{when})" if change.manager else ""
    return one_line(f"{change.field} {_value(change.old)} -> {_value(change.new)}{who}")


def _value(value: object) -> str:
    """A value as people write it: a text as it is, `none` where there is nothing, anything else as JSON."""
    text = (
        value if isinstance(value, str) and value else "none" if value is None else msgspec.json.encode(value).decode()
    )
    return text if len(text) <= _VALUE_MAX else text[: _VALUE_MAX - 3] + "..."
