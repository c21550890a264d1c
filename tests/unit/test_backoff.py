"""When something that did not work is tried again: the waits, recorded moments, and the tries of a loop."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from takara_sync.backoff import elapsed, rejected_is_due, wait_after
from tests.unit.build import NOW

DAY = 24 * 60
TEN = timedelta(seconds=10)


@pytest.mark.parametrize(
    ("times", "minutes"), [(-5, 10), (0, 10), (1, 10), (2, 20), (3, 40), (8, 1280), (9, DAY), (50, DAY), (10**30, DAY)]
)
def test_the_wait_doubles_up_to_a_day(times: int, minutes: int) -> None:
    assert wait_after(times) == timedelta(minutes=minutes)


# ------------------------------------------------------------------ recorded moments


@pytest.mark.parametrize(
    ("at", "minutes"),
    [
        ("2026-01-01T11:51:00Z", 9),
        ("2026-01-01T13:51:00+02:00", 9),
        ("2026-01-01T11:51:00+02:00", 129),
        ("2026-01-01T11:51:00", 9),
        ("2026-01-01T12:10:00Z", -10),
    ],
    ids=["UTC", "another zone", "another zone, earlier", "without a zone", "clocks may differ by ten minutes"],
)
def test_a_moment_counts_in_its_own_zone(at: str, minutes: int) -> None:
    assert elapsed(at, NOW) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    "at",
    [
        *("", "yesterday", "2026-13-01T00:00:00Z", "1"),
        *("2026-01-01T12:10:01Z", "2036-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"),
    ],
)
def test_a_moment_that_is_unusable_or_in_the_future_was_long_ago(at: str) -> None:
    assert elapsed(at, NOW) == timedelta.max


# ------------------------------------------------------------------ rejected writes in a loop


@pytest.mark.parametrize("uid", ["a", "b", "c"])
@pytest.mark.parametrize("seconds", [1, 10, 60])
def test_a_rejected_write_is_tried_once_in_five_minutes(uid: str, seconds: int) -> None:
    beat = timedelta(seconds=seconds)
    tries = [number for number in range(900 // seconds) if rejected_is_due(uid, NOW + number * beat, beat)]
    assert [later - earlier for earlier, later in pairwise(tries)] == [300 // seconds] * 2


def test_objects_are_tried_at_moments_of_their_own() -> None:
    due = [sum(rejected_is_due(f"uid-{n}", NOW + beat * TEN, TEN) for n in range(300)) for beat in range(30)]
    assert sum(due) == 300
    assert 1 <= min(due) <= max(due) < 30, "10 a pass, about"


def test_a_long_pause_and_a_single_pass_leave_no_try_out() -> None:
    assert rejected_is_due("uid", NOW, timedelta(minutes=5))
    assert rejected_is_due("uid", NOW, None)
