"""The loop: a monotonic beat without overlap or burst, signals, and the exit code of a pass."""

from __future__ import annotations

import json
import signal
import threading
from datetime import UTC, datetime
from itertools import cycle, pairwise
from typing import Any

import pytest

from takara_sync.cli import loop
from takara_sync.cli import publish as publishing
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.publish import exit_code, log_summary
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.conditions import Reason
from takara_sync.deadline import Deadline
from takara_sync.errors import CutShort, PassStopped, TooManyChanges, Unreadable
from takara_sync.objects import Key
from takara_sync.plan import Policy
from takara_sync.report import Exit, Outcome, Report, Result

STARTED = datetime(2026, 1, 1, tzinfo=UTC)


def report(
    *results: Result, error: PassStopped | None = None, bug: bool = False, next_start: Key | None = None
) -> Report:
    outcomes = (
        Outcome(Key("ns", f"t{n}"), result, Reason.BUG if bug else Reason.UNREAD) for n, result in enumerate(results)
    )
    return Report(tuple(outcomes), STARTED, 0.1, error, next_start=next_start)


class Beat(Stop):
    """A loop on a clock of its own: passes take as long as the list says, and the end is asked for in the last wait."""

    def __init__(self, *lengths: float, outcome: Report | list[Report] | None = None, stop_in_pass: int = 0) -> None:
        super().__init__()
        self.now = 100.0
        self.began: list[float] = []
        self.starts: list[Key | None] = []
        self.intervals: list[float | None] = []
        self.waited: list[float] = []
        self._lengths = list(lengths)
        outcome = outcome or report(Result.UNCHANGED)
        self._outcomes = cycle([outcome] if isinstance(outcome, Report) else outcome)
        self._stop_in_pass = stop_in_pass

    def loop(self, interval: float, duration: float | None = None) -> Exit:
        settings = Settings(output="json")
        runner = loop.Runner(settings, self, Heartbeat(None), self.one_pass, lambda: self.now)
        return runner.loop(interval, duration)

    def one_pass(self, policy: Policy, deadline: Deadline, start: Key | None) -> Report:
        assert deadline.left() > 0
        self.began.append(self.now - 100)
        self.starts.append(start)
        self.intervals.append(policy.interval.total_seconds() if policy.interval else None)
        self.now += self._lengths.pop(0)
        if len(self.began) == self._stop_in_pass:
            self.ask("SIGTERM")
        return next(self._outcomes)

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds
        if not self._lengths:
            self.ask("SIGTERM")


def test_a_long_pass_is_followed_by_a_pause_and_by_no_burst() -> None:
    beat = Beat(35, 1, 1, 9, 1)
    beat.loop(10)
    assert beat.began[1] > 35
    assert all(pause > 0 for pause in beat.waited)
    gaps = [after - before for before, after in pairwise(beat.began[1:])]
    assert all(gap >= 10 for gap in gaps)


def test_a_pass_begins_where_the_last_one_stopped() -> None:
    there = Key("ns", "t2")
    beat = Beat(1, 1, outcome=report(Result.UNCHANGED, next_start=there))
    beat.loop(10)
    assert beat.starts == [None, there]


def test_a_pass_knows_how_long_ago_the_last_one_began() -> None:
    """The first one assumes a process before it that ended a moment ago."""
    beat = Beat(1, 25, 1)
    beat.loop(10)
    assert beat.intervals == [15, 10, 26]


def test_a_failed_pass_does_not_end_the_loop_and_a_stop_in_the_wait_is_0() -> None:
    beat = Beat(1, 1, 1, outcome=report(error=Unreadable("no")))
    assert beat.loop(10) == Exit.OK
    assert len(beat.began) == 3


def test_a_stop_in_a_pass_gives_the_code_of_that_pass() -> None:
    beat = Beat(1, 1, 1, outcome=report(Result.NOT_REACHED, error=CutShort("SIGTERM")), stop_in_pass=2)
    assert beat.loop(10) == Exit.CUT_SHORT
    assert len(beat.began) == 2


@pytest.mark.parametrize(
    ("lengths", "duration", "began"),
    [
        ((3, 0, 8, 1, 1, 1), 55, [0, 10, 20, 30, 40, 50]),
        ((6, 6, 6, 6, 6), 55, [0, 10, 20, 30, 40]),
        ((1, 1, 1, 30), 55, [0, 10, 20, 30]),
        ((1,), 10, [0]),
    ],
)
def test_a_bounded_loop_starts_nothing_that_would_not_end_in_time(
    lengths: tuple[float, ...], duration: float, began: list[float]
) -> None:
    """It ends with the code of its last pass, without a last wait."""
    beat = Beat(*lengths, outcome=report(Result.FAILED))
    assert beat.loop(10, duration) == Exit.FAILED
    assert beat.began == began
    assert len(beat.waited) == len(began) - 1


def test_a_loop_ends_when_nobody_reads_its_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "show", lambda *_: False)
    beat = Beat(1, 1, 1, outcome=report(Result.CONTESTED))
    assert beat.loop(10) == Exit.OK
    assert len(beat.began) == 1


def test_each_pass_is_reported_as_soon_as_it_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    """One document a line, each before the wait that follows it."""
    seen: list[Any] = []

    class Seen(Beat):
        def wait(self, seconds: float) -> None:
            seen.append(json.loads(capsys.readouterr().out))
            super().wait(seconds)

    Seen(1, 1).loop(10)
    assert [line["exit"] for line in seen] == [0, 0]


# ------------------------------------------------------------------ signals


@pytest.fixture
def stop(signals_of_their_own: None) -> Stop:  # noqa: ARG001 - it undoes the installation
    stop = Stop()
    stop.install()
    return stop


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_wait(stop: Stop, number: signal.Signals) -> None:
    threading.Timer(0.1, signal.raise_signal, (number,)).start()
    stop.wait(threading.TIMEOUT_MAX)
    assert stop.asked


def test_a_signal_ends_the_pass_that_is_running_and_the_next(stop: Stop) -> None:
    first, second = Deadline(50), Deadline(50)
    stop.watch(first)
    signal.raise_signal(signal.SIGTERM)
    first.wait(25)
    assert (first.left(), first.left_for_requests() > 0) == (0, True)
    stop.watch(second)
    with pytest.raises(CutShort, match="SIGTERM"):
        second.check()


# ------------------------------------------------------------------ the exit code

BOTH = ("blocked", "invalid")
CODES = [
    (report(), {}, Exit.OK),
    (report(Result.CREATED, Result.SKIPPED, Result.CONTESTED), {}, Exit.OK),
    (report(Result.CREATED), {"dry_run": True}, Exit.FAILED),
    (report(Result.UNCHANGED), {"dry_run": True}, Exit.OK),
    (report(Result.FAILED, Result.BLOCKED), {}, Exit.FAILED),
    (report(Result.FAILED, Result.BLOCKED), {"tolerate": BOTH}, Exit.FAILED),
    (report(Result.BLOCKED), {}, Exit.BLOCKED),
    (report(Result.BLOCKED), {"tolerate": BOTH}, Exit.OK),
    (report(Result.BLOCKED), {"tolerate": ("invalid",)}, Exit.BLOCKED),
    (report(Result.BLOCKED, Result.INVALID), {"tolerate": ("invalid",)}, Exit.BLOCKED),
    (report(Result.BLOCKED, Result.CREATED), {"tolerate": BOTH, "dry_run": True}, Exit.FAILED),
    (report(Result.NOT_REACHED, Result.FAILED, error=CutShort("x")), {}, Exit.CUT_SHORT),
    (report(Result.FAILED, error=Unreadable("x")), {"tolerate": BOTH}, Exit.UNREADABLE),
    (report(Result.NOT_REACHED, error=TooManyChanges("x")), {"dry_run": True}, Exit.TOO_MANY_CHANGES),
    (report(Result.FAILED, bug=True), {}, Exit.BUG),
]


@pytest.mark.parametrize(("done", "given", "code"), CODES)
def test_the_exit_code(done: Report, given: dict[str, object], code: Exit) -> None:
    assert exit_code(done, Settings.model_validate(given)) == code


def test_the_last_line_names_who_needs_somebody(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "takara_sync")
    log_summary(report(*[Result.FAILED] * 25, Result.BLOCKED, error=CutShort("cut")), Exit.CUT_SHORT)
    (line,) = caplog.records
    assert line.levelname == "ERROR"
    assert "ns/t0 (Unread)" in line.message
    assert "and 6 more" in line.message
    assert "cut" in line.message
    assert len(line.__dict__["needs"]) == 26


@pytest.mark.parametrize(
    ("states", "code", "passes"),
    [(("Ready", "Stalled"), 4, 1), (("Progressing", "Stalled"), 4, 1), (("Ready", "Ready"), 0, 1)],
)
def test_a_rollout_that_is_stuck_ends_the_wait_and_is_no_success(
    states: tuple[str, str], code: int, passes: int
) -> None:
    outcomes = tuple(Outcome(Key("ns", state), Result.UNCHANGED, ready=state) for state in states)
    beat = Beat(1.0, 1.0, outcome=Report(outcomes, STARTED, 0.1))
    runner = loop.Runner(Settings(output="json"), beat, Heartbeat(None), beat.one_pass, lambda: beat.now)
    assert (runner.once(wait=60), len(beat.began)) == (code, passes)
