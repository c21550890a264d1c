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


@pytest.mark.parametrize(
    ("after", "left", "for_writes"), [(0, 50, 35), (35, 15, 0), (49.5, 0.5, 0), (50, 0, 0), (150, 0, 0)]
)
def test_time_runs_out_and_for_writes_before_that(after: float, left: float, for_writes: float) -> None:
    clock = Clock()
    deadline = Deadline(50, clock)
    writes = deadline.for_writes()
    clock.seconds += after
    assert (deadline.left(), deadline.left_for_requests(), writes.left()) == (left, left, for_writes)
    if left:
        deadline.check()
    else:
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


def test_writes_end_with_the_pass() -> None:
    deadline = Deadline()
    writes = deadline.for_writes()
    assert writes.left() == float("inf")
    deadline.stop("SIGTERM")
    assert writes.stopped
    with pytest.raises(CutShort, match="SIGTERM"):
        writes.check()
