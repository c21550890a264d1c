"""When a pass has to be over, with a clock of the test's own."""

from __future__ import annotations

import threading

import pytest

from takara_sync.deadline import Deadline
from takara_sync.errors import CutShort


class Clock:
    """Seconds that pass when the test says so."""

    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_time_runs_out() -> None:
    clock = Clock()
    deadline = Deadline(50, clock)
    assert deadline.left() == deadline.left_for_requests() == 50
    clock.seconds += 49.5
    deadline.check()
    assert deadline.left() == 0.5
    clock.seconds += 0.5
    assert deadline.left() == deadline.left_for_requests() == 0
    clock.seconds += 100
    assert deadline.left() == 0
    with pytest.raises(CutShort, match="by its deadline of 50 s"):
        deadline.check()


def test_a_stop_leaves_running_requests_their_time() -> None:
    deadline = Deadline(50, Clock())
    deadline.stop("SIGTERM")
    deadline.stop("a second reason")
    assert (deadline.left(), deadline.left_for_requests()) == (0, 50)
    with pytest.raises(CutShort, match="cut short by SIGTERM"):
        deadline.check()


def test_without_a_limit_only_a_stop_ends_it() -> None:
    deadline = Deadline()
    deadline.check()
    deadline.stop("you")
    for over in (deadline, Deadline(0.0, Clock()), Deadline(-1.0, Clock())):
        with pytest.raises(CutShort):
            over.check()


@pytest.mark.parametrize("seconds", [-1.0, float("inf")])
def test_waiting_ends_at_the_deadline_and_with_a_stop(seconds: float) -> None:
    """The time limit of the test is what fails here."""
    Deadline(0).wait(float("inf"))
    Deadline().wait(-1)
    deadline = Deadline()
    timer = threading.Timer(0.01, deadline.stop, ["somebody"])
    timer.start()
    deadline.wait(seconds)
    timer.join()


def test_writes_end_before_the_statuses_and_with_the_pass() -> None:
    clock = Clock()
    deadline = Deadline(50, clock)
    writes = deadline.for_writes()
    assert (deadline.left(), writes.left(), Deadline().for_writes().left()) == (50, 35, float("inf"))
    clock.seconds += 35
    assert (deadline.left(), writes.left()) == (15, 0)
    deadline.stop("SIGTERM")
    assert writes.stopped
    with pytest.raises(CutShort, match="SIGTERM"):
        writes.check()
