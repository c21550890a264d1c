"""Who gets the replicas: the rules of a contest, each with an explicit clock."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

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


def test_days_of_an_autoscaler_that_never_gives_in() -> None:
    record, held, tries = None, False, []
    for minute in range(0, 6 * DAY, 5):
        contest = contest_of(takara(record, held=held), live(), NOW + timedelta(minutes=minute))
        held = contest.left
        if contest.record and not contest.left:
            tries.append(minute)
            record = {"manager": "hpa", "at": contest.record.at, "times": contest.record.times}
    assert tries == [
        0,
        10,
        30,
        70,
        150,
        310,
        630,
        1270,
        2550,
        2550 + DAY,
        2550 + 2 * DAY,
        2550 + 3 * DAY,
        2550 + 4 * DAY,
    ]


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
