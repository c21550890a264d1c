"""Who gets the replicas, and when something that did not work is tried again: each with an explicit clock."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from takara_sync.backoff import elapsed, rejected_is_due, wait_after
from takara_sync.contest import UNKNOWN, Contest, contest_of
from takara_sync.objects import Deployment, Takara, TakenBy
from takara_sync.text import rfc3339
from tests.unit.build import NOW, REPLICAS, Json, condition, decoded, deployment_json, entry, lost, scaled, settled

SIZE, LIVE = 3, 7
DAY = 24 * 60


def takara(record: Json | None = None, *, held: bool = False, generation: int = 1, size: int = SIZE) -> Takara:
    """A Takara with this record; `held`: its status says that the replicas are contested."""
    one = settled(size=size, record={"replicasTakenBy": record} if record else {}, generation=generation)
    reason = "ReplicasContested" if held else "Progressing"
    one["status"]["conditions"] = [condition("Ready", "False", reason)]
    return decoded(Takara, one)


def live(*managers: str, replicas: int = LIVE) -> Deployment:
    found = scaled(deployment_json(), replicas)
    found["metadata"]["managedFields"][1:] = [entry(manager, REPLICAS) for manager in managers or ("hpa",)]
    return decoded(Deployment, found)


def taken(minutes: float = 0, by: str = "hpa", **more: Any) -> Json:
    """The record that replicas were taken back so many minutes ago."""
    return {"manager": by, "at": rfc3339(NOW - timedelta(minutes=minutes))} | more


def undone(by: str = "hpa", times: int = 1) -> Contest:
    return Contest(by, record=TakenBy(by, rfc3339(NOW), times))


# ------------------------------------------------------------------ how it begins


def test_a_first_take_is_undone_and_remembered() -> None:
    assert contest_of(takara(), live(), NOW) == undone()


@pytest.mark.parametrize("minutes", [0, 1, 9.9])
def test_a_second_take_within_ten_minutes_is_a_contest(minutes: float) -> None:
    one = takara(taken(minutes))
    assert contest_of(one, live(), NOW) == Contest("hpa", left=True, record=one.applied.replicas_taken_by)


@pytest.mark.parametrize("minutes", [10, 60, 60 * DAY])
def test_a_take_after_ten_minutes_is_a_single_one(minutes: float) -> None:
    assert contest_of(takara(taken(minutes, times=5)), live(), NOW) == undone()


def test_a_take_by_another_manager_is_a_first_one() -> None:
    assert contest_of(takara(taken(1, by="kubectl")), live("hpa"), NOW) == undone()


def test_the_same_manager_counts_also_where_others_hold_the_replicas_too() -> None:
    assert contest_of(takara(taken(1, by="a")), live("b", "a"), NOW).left


def test_nobody_took_what_we_still_hold() -> None:
    """It is the size that changed, whoever was remembered."""
    still_ours = decoded(Deployment, deployment_json(replicas=LIVE))
    one = takara(taken(1))
    assert contest_of(one, still_ours, NOW) == Contest(record=one.applied.replicas_taken_by)


def test_taken_by_nobody_is_a_take_too() -> None:
    """A scale to 0 takes the field out of our entry and gives it to nobody."""
    nobody = decoded(Deployment, lost(deployment_json(replicas=0), "f:spec", "f:replicas"))
    first = contest_of(takara(), nobody, NOW)
    assert (first.holder, first.left) == (UNKNOWN, False)
    assert UNKNOWN == "an unknown manager", "stored in a status: another word would be another holder"
    again = contest_of(takara({"manager": UNKNOWN, "at": rfc3339(NOW)}), nobody, NOW)
    assert again.left


def test_what_was_left_stays_left_where_the_holder_was_taken_over() -> None:
    """A legacy manager's replicas become ours with the rest; who took them is remembered all the same."""
    still_ours = decoded(Deployment, deployment_json(replicas=LIVE))
    assert contest_of(takara(taken(9), held=True), still_ours, NOW).left
    assert contest_of(takara(taken(10), held=True), still_ours, NOW) == undone(times=2)


# ------------------------------------------------------------------ how it goes on


@pytest.mark.parametrize(
    ("times", "wait"), [(1, 10), (2, 20), (3, 40), (4, 80), (7, 640), (8, 1280), (9, DAY), (10, DAY), (50, DAY)]
)
def test_a_contest_is_tried_again_after_a_wait_that_doubles(times: int, wait: int) -> None:
    just_before = contest_of(takara(taken(wait - 0.1, times=times), held=True), live(), NOW)
    assert just_before.left
    assert just_before.record is not None
    assert just_before.record.times == times
    assert contest_of(takara(taken(wait, times=times), held=True), live(), NOW) == undone(times=times + 1)


# ------------------------------------------------------------------ how it ends


def test_over_when_the_live_replicas_equal_the_size() -> None:
    contest = contest_of(takara(taken(1), held=True), live(replicas=SIZE), NOW)
    assert (contest.left, contest.holder) == (False, "")


def test_over_when_the_holder_changes() -> None:
    assert contest_of(takara(taken(1, times=4), held=True), live("kubectl"), NOW) == undone("kubectl")


def test_over_when_the_generation_changes() -> None:
    assert contest_of(takara(taken(1, times=4), held=True, generation=2), live(), NOW) == undone()


def test_the_memory_survives_a_moment_of_peace() -> None:
    """The autoscaler's next take comes after a pass that found the size right: it is still the second one."""
    record = contest_of(takara(taken(1)), live(replicas=SIZE), NOW).record
    assert record == TakenBy("hpa", rfc3339(NOW - timedelta(minutes=1)))


# ------------------------------------------------------------------ records that cannot be right


def test_an_unusable_moment_was_long_ago() -> None:
    record = {"manager": "hpa", "at": "yesterday"}
    assert contest_of(takara(record), live(), NOW) == undone()
    assert contest_of(takara(record | {"times": 3}, held=True), live(), NOW) == undone(times=4)


@pytest.mark.parametrize(("times", "wait"), [(2**31 - 1, DAY), (10**30, DAY), (0, 10), (-5, 10)])
def test_odd_times_wait_within_bounds_and_stay_an_int32(times: int, wait: int) -> None:
    assert contest_of(takara(taken(wait - 1, times=times), held=True), live(), NOW).left
    record = contest_of(takara(taken(wait, times=times), held=True), live(), NOW).record
    assert record
    assert 1 < record.times < 2**31


@pytest.mark.parametrize("record", [{"manager": "hpa"}, {"manager": "hpa", "at": 5}, {"at": "x"}, {"manager": None}])
def test_a_malformed_record_is_none(record: Json) -> None:
    assert contest_of(takara(record), live(), NOW) == undone()


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
