"""What a pass did: exit codes and which wins, the JSON form, the words."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
import pytest
from msgspec.structs import replace

from takara_sync.conditions import Reason
from takara_sync.diff import Change
from takara_sync.errors import (
    CutShort,
    ObjectError,
    PassStopped,
    TakaraSyncError,
    TooManyChanges,
    Unauthorized,
    Unreadable,
)
from takara_sync.objects import Key
from takara_sync.report import Exit, Outcome, Report, Result, describe, summary

STARTED = datetime(2026, 1, 1, 12, 0, 0, 1_500, UTC)
FINE = [Result.CREATED, Result.UPDATED, Result.TAKEN_OVER, Result.UNCHANGED, Result.SKIPPED, Result.CONTESTED]
BUG = Outcome(Key("ns", "bug"), Result.FAILED, Reason.BUG)


def report(*results: Result | Outcome, error: PassStopped | None = None) -> Report:
    outcomes = (
        one if isinstance(one, Outcome) else Outcome(Key("ns", f"t{number}"), one) for number, one in enumerate(results)
    )
    return Report(tuple(outcomes), STARTED, 1.23456, error)


# ------------------------------------------------------------------ exit codes


@pytest.mark.parametrize(
    ("done", "code"),
    [
        (report(), 0),
        (report(*FINE), 0),
        (report(*FINE, Result.FAILED), 1),
        (report(*FINE, Result.BLOCKED), 6),
        (report(*FINE, Result.INVALID), 6),
        (report(*FINE, Outcome(Key("ns", "x"), Result.UPDATED, Reason.CHANGED_ON_ADMISSION)), 6),
        (report(*FINE, Result.NOT_REACHED), 4),
        (report(error=Unreadable("x")), 3),
        (report(error=Unauthorized("x")), 3),
        (report(error=CutShort("x")), 4),
        (report(error=TooManyChanges("x")), 5),
        (report(Result.NOT_REACHED, Result.FAILED, error=TooManyChanges("x")), 5),
        (report(BUG), 70),
    ],
)
def test_exit_code(done: Report, code: int) -> None:
    assert done.exit == code


WINS: list[tuple[Result | Outcome | PassStopped, int]] = [
    (BUG, 70),
    (Unreadable("x"), 3),
    (CutShort("x"), 4),
    (Result.NOT_REACHED, 4),
    (Result.FAILED, 1),
    (Result.BLOCKED, 6),
    (Result.UNCHANGED, 0),
]


@pytest.mark.parametrize("rank", range(len(WINS)))
def test_what_is_worse_wins(rank: int) -> None:
    worst, code = WINS[rank]
    rest = [what for what, _ in WINS[rank:]]
    error = next((what for what in rest if isinstance(what, PassStopped)), None)
    results = [what for what in rest if not isinstance(what, PassStopped)]
    assert report(*results, error=error).exit == code
    assert report(*reversed(results), error=error).exit == code, worst


# ------------------------------------------------------------------ raising

RAISED: list[tuple[Report, type[TakaraSyncError], str]] = [
    (report(error=Unreadable("no answer")), Unreadable, "no answer"),
    (report(Result.FAILED, error=CutShort("late")), CutShort, "late"),
    (report(error=TooManyChanges("3 changes")), TooManyChanges, "3 changes"),
    (report(Result.UNCHANGED, Result.NOT_REACHED), CutShort, "1 of 2 Takaras were not reached, first ns/t1: "),
    (report(Result.FAILED, Result.NOT_REACHED, Result.FAILED), ObjectError, "2 of 3 Takaras failed, first ns/t0: "),
    (report(Result.FAILED), ObjectError, "1 of 1 Takaras failed, first ns/t0: "),
    (report(BUG), ObjectError, "1 of 1 Takaras failed, first ns/bug: "),
    (
        report(Result.UNCHANGED, Outcome(Key("ns", "b"), Result.FAILED, Reason.APPLY_FAILED, "quota")),
        ObjectError,
        "1 of 2 Takaras failed, first ns/b: quota",
    ),
]


@pytest.mark.parametrize(("done", "kind", "words"), RAISED)
def test_every_other_exit_code_raises(done: Report, kind: type[TakaraSyncError], words: str) -> None:
    with pytest.raises(kind, match=words) as raised:
        done.raise_for_failure()
    assert type(raised.value) is kind


def test_what_went_well_or_needs_a_person_raises_nothing() -> None:
    for done in (report(*FINE), report(*FINE, Result.BLOCKED), report(Result.INVALID)):
        done.raise_for_failure()
    assert {done.exit for done, _, _ in RAISED} == set(Exit) - {Exit.OK, Exit.USAGE, Exit.BLOCKED}


def test_who_needs_a_person() -> None:
    needs = [outcome(result=result).needs_a_person for result in Result]
    assert Counter(needs) == {"": len(Result) - 2, "blocked": 1, "invalid": 1}
    assert outcome(result=Result.UPDATED, reason=Reason.CHANGED_ON_ADMISSION).needs_a_person == "blocked"


# ------------------------------------------------------------------ JSON

CHANGE = Change("spec.replicas", 7, 3, "hpa", "2026-01-01T00:00:00Z", "scale")


def as_json(found: Report, code: Exit | None = None) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found.document(code)))
    return plain


def test_the_json_form() -> None:
    done = report(
        Outcome(Key("a", "x"), Result.UPDATED, changes=(CHANGE,), status_written=True, size=4, ready_replicas=2),
        Outcome(Key("b", "y"), Result.FAILED, Reason.APPLY_FAILED, "quota"),
    )
    nothing = {"reason": "", "message": "", "ready": "", "statusWritten": False, "changes": []}
    nothing |= {"size": None, "readyReplicas": 0}
    change = {
        "field": "spec.replicas",
        "old": 7,
        "new": 3,
        "manager": "hpa",
        "time": "2026-01-01T00:00:00Z",
        "subresource": "scale",
    }
    assert as_json(done) == {
        "schema": "takara-sync/report/v2",
        "exit": 1,
        "error": None,
        "started": "2026-01-01T12:00:00.001Z",
        "seconds": 1.235,
        "dryRun": False,
        "emptyNamespaces": [],
        "counts": {"updated": 1, "failed": 1},
        "takaras": [
            nothing
            | {"namespace": "a", "name": "x", "result": "updated", "statusWritten": True, "changes": [change]}
            | {"size": 4, "readyReplicas": 2},
            nothing | {"namespace": "b", "name": "y", "result": "failed", "reason": "ApplyFailed", "message": "quota"},
        ],
    }


def test_the_json_form_of_a_stopped_pass() -> None:
    found = as_json(report(error=CutShort("Cut", "Go on.")))
    assert (found["exit"], found["error"]) == (4, {"kind": "CutShort", "message": "Cut", "hint": "Go on."})


def test_the_counts_of_the_json_form_have_one_order() -> None:
    one, other = (as_json(report(*order))["counts"] for order in (FINE, FINE[::-1]))
    assert list(one) == list(other) == [str(result) for result in FINE]


# ------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (CHANGE, "spec.replicas 7 -> 3 (set by hpa, subresource scale, 2026-01-01T00:00:00Z)"),
        (Change("spec.replicas", 0, 3, "kubectl"), "spec.replicas 0 -> 3 (set by kubectl)"),
        (Change("a", None, "x"), "a none -> x"),
        (Change("a", "none", False), "a none -> false"),
        (Change("a", {"b": [1]}, ["x", "y"]), 'a {"b":[1]} -> ["x","y"]'),
        (Change("a", "", "x"), 'a "" -> x'),
        (Change("a", 'say "hi"', "x"), 'a say "hi" -> x'),
        (Change("a", "line\nline", "\x1b[31mred"), "a line line -> [31mred"),
        (Change("a", 1, 2, "evil\n\u202ename"), "a 1 -> 2 (set by evil name)"),
        (Change("a", "x" * 300, "y" * 80), f"a {'x' * 300} -> {'y' * 80}"),
        (Change("a", {"b": 1, "c": "x" * 80}, ["x" * 80]), 'a {"b":1, ... -> [, ...'),
    ],
)
def test_describe(change: Change, words: str) -> None:
    assert describe(change) == words


def outcome(**more: Any) -> Outcome:
    return Outcome(Key("ns", "one"), **({"result": Result.UNCHANGED} | more))


CHANGES = (Change("a", 1, 2), Change("b", 3, 4))


@pytest.mark.parametrize(
    ("one", "detail"),
    [
        (outcome(), ""),
        (outcome(result=Result.UPDATED, changes=CHANGES), "a 1 -> 2; b 3 -> 4"),
        (
            outcome(result=Result.FAILED, reason=Reason.APPLY_FAILED, message="two\nlines"),
            "ApplyFailed: two lines",
        ),
        (
            outcome(result=Result.UPDATED, changes=CHANGES[:1], reason=Reason.STATUS_OVERWRITTEN, message="why"),
            "a 1 -> 2; StatusOverwritten: why",
        ),
    ],
)
def test_the_detail_of_an_outcome(one: Outcome, detail: str) -> None:
    assert one.detail == detail


def waiting(name: str, result: Result, reason: Reason | Literal[""] = "", ready: str = "Progressing") -> Outcome:
    return Outcome(Key("ns", name), result, reason, ready=ready, size=4, ready_replicas=2)


WAITING = (  # what is created needs time, unless something keeps its pods away
    waiting("a", Result.UNCHANGED),
    waiting("b", Result.CREATED),
    waiting("c", Result.UPDATED, Reason.QUOTA_EXCEEDED),
    waiting("d", Result.UNCHANGED, Reason.CRASH_LOOP, "Stalled"),
    waiting("e", Result.UNCHANGED, ready="Ready"),
)
NAMED = "ns/a 2/4, ns/c 2/4 exceeded quota, ns/d 2/4 crash loop"


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (report(), "0 Takaras (1.2 s)"),
        (report(Result.CREATED), "1 Takara: 1 created (1.2 s)"),
        (
            report(Result.UNCHANGED, Result.FAILED, Result.UNCHANGED, Result.CREATED),
            "4 Takaras: 1 created, 2 unchanged, 1 failed (1.2 s)",
        ),
        (replace(report(Result.CREATED), dry_run=True), "dry run: 1 Takara: 1 created (1.2 s)"),
        (report(*WAITING), f"5 Takaras: 1 created, 1 updated, 3 unchanged; 3 not Ready: {NAMED} (1.2 s)"),
        (
            report(*[WAITING[0]] * 7),
            f"7 Takaras: 7 unchanged; 7 not Ready: {', '.join(['ns/a 2/4'] * 5)} and 2 more (1.2 s)",
        ),
    ],
)
def test_the_summary(done: Report, words: str) -> None:
    assert summary(done) == words


# ------------------------------------------------------------------ what the command adds


def test_the_code_of_the_process_may_be_another_than_that_of_the_pass() -> None:
    assert as_json(report(Result.BLOCKED))["exit"] == 6
    assert as_json(report(Result.BLOCKED), Exit.OK)["exit"] == 0


def test_the_namespaces_asked_for_that_hold_nothing_are_named() -> None:
    asked = ["z", "ns", "a", "z"]
    assert report(Result.UNCHANGED).empty_of(asked) == ("a", "z")
    assert report(Result.UNCHANGED).document(namespaces=asked).empty_namespaces == ("a", "z")
    assert report(error=Unreadable("no answer")).empty_of(asked) == (), "nothing is known of them"
