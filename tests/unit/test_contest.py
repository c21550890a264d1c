"""Who gets the replicas, and when something that did not work is tried again: each with an explicit clock."""

from __future__ import annotations

import logging
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from takara_sync.backoff import elapsed, rejected_is_due, wait_after
from takara_sync.contest import UNKNOWN, Contest, contest_of
from takara_sync.objects import Deployment, Takara, TakenBy
from takara_sync.report import Result
from takara_sync.text import rfc3339
from tests.support.takaras import takara as takara_json
from tests.unit.build import NOW, REPLICAS, Json, condition, decoded, deployment_json, entry, lost, scaled, settled
from tests.unit.world import World, result

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


def left(minutes: float, by: str = "hpa", times: int = 1) -> Contest:
    """The replicas are left to it, and the record stays as it is."""
    return Contest(by, left=True, record=TakenBy(by, rfc3339(NOW - timedelta(minutes=minutes)), times))


STILL_OURS = decoded(Deployment, deployment_json(replicas=LIVE))
# A scale to 0 takes the field out of our entry and gives it to nobody.
NOBODYS = decoded(Deployment, lost(deployment_json(replicas=0), "f:spec", "f:replicas"))
YESTERDAY: Json = {"manager": "hpa", "at": "yesterday"}
REMEMBERED = TakenBy("hpa", rfc3339(NOW - timedelta(minutes=1)))
RULES: dict[str, tuple[Takara, Deployment, Contest]] = {
    "a first take is undone and recorded": (takara(), live(), undone()),
    "a second take at once": (takara(taken(0)), live(), left(0)),
    "a second take within ten minutes": (takara(taken(9.9)), live(), left(9.9)),
    "a take after ten minutes is a single one": (takara(taken(10, times=5)), live(), undone()),
    "a take after months is a single one": (takara(taken(60 * DAY, times=5)), live(), undone()),
    "a take by another manager is a first one": (takara(taken(1, by="kubectl")), live("hpa"), undone()),
    "the same manager, where others hold the replicas too": (takara(taken(1, by="a")), live("b", "a"), left(1, "a")),
    "we still hold them: the size changed": (takara(taken(1)), STILL_OURS, Contest(record=REMEMBERED)),
    "taken by nobody": (takara(), NOBODYS, undone(UNKNOWN)),
    "taken by nobody again": (takara(taken(1, by=UNKNOWN)), NOBODYS, left(1, UNKNOWN)),
    "taken by nobody, after another manager": (takara(taken(1)), NOBODYS, undone(UNKNOWN)),
    "left to a holder that was taken over": (takara(taken(9), held=True), STILL_OURS, left(9)),
    "the same, after its time": (takara(taken(10), held=True), STILL_OURS, undone(times=2)),
    "a contest at its third try": (takara(taken(39.9, times=3), held=True), live(), left(39.9, times=3)),
    "after its third try": (takara(taken(40, times=3), held=True), live(), undone(times=4)),
    "over: the size is there": (takara(taken(1), held=True), live(replicas=SIZE), Contest(record=REMEMBERED)),
    "over: another holder": (takara(taken(1, times=4), held=True), live("kubectl"), undone("kubectl")),
    "over: another generation": (takara(taken(1, times=4), held=True, generation=2), live(), undone()),
    "a moment of peace is not the end": (takara(taken(1)), live(replicas=SIZE), Contest(record=REMEMBERED)),
    "an unusable moment was long ago": (takara(YESTERDAY), live(), undone()),
    "also in a contest": (takara(YESTERDAY | {"times": 3}, held=True), live(), undone(times=4)),
    "a record without a moment": (takara({"manager": "hpa"}), live(), undone()),
    "a moment that is no text": (takara({"manager": "hpa", "at": 5}), live(), undone()),
    "a record without a manager": (takara({"at": "x"}), live(), undone()),
    "a manager that is no text": (takara({"manager": None}), live(), undone()),
}


@pytest.mark.parametrize("rule", RULES)
def test_who_gets_the_replicas(rule: str) -> None:
    one, deployment, expected = RULES[rule]
    assert contest_of(one, deployment, NOW) == expected


def test_the_unknown_manager_is_stored_in_a_status_so_another_word_would_be_another_holder() -> None:
    assert UNKNOWN == "an unknown manager"


@pytest.mark.parametrize(("times", "wait"), [(2**31 - 1, DAY), (10**30, DAY), (0, 10), (-5, 10)])
def test_odd_times_wait_within_bounds_and_stay_an_int32(times: int, wait: int) -> None:
    assert contest_of(takara(taken(wait - 1, times=times), held=True), live(), NOW).left
    record = contest_of(takara(taken(wait, times=times), held=True), live(), NOW).record
    assert record
    assert 1 < record.times < 2**31


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


def test_a_new_contest_is_a_warning_and_says_until_when() -> None:
    """Nobody else would look at it: the exit code is 0."""
    world = World(takara_json("one"))
    world.sync()
    world.scale()
    assert result(world.sync()) == "updated"
    world.scale()
    (outcome,) = world.sync().takaras
    until = rfc3339(world.now() + timedelta(minutes=10))
    assert (outcome.result, f"until {until}." in outcome.message) == (Result.CONTESTED, True)
    assert [line.levelno for line in world.records if "ReplicasContested" in line.getMessage()] == [logging.WARNING]
    world.sync()
    assert not [line for line in world.records if line.levelno >= logging.WARNING], "it is no news"
