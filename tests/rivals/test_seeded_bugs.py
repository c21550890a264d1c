"""For each promise of this folder a program that breaks it: the check of that promise has to fail."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from takara_sync.contest import Contest
from tests.rivals.newer import become_newer
from tests.rivals.test_autoscaler import SECOND, Fight, check_a_fight_of
from tests.rivals.test_deadline import Restless, check_nobody_starves, restless
from tests.rivals.test_go_operator import Both, check_they_settle
from tests.rivals.test_single_scales import Person, check_single_scales
from tests.rivals.test_two_formats import Versions, check_no_flip_flop
from tests.support.takaras import takara
from tests.world import World

Check = Callable[[World], object]

__all__ = ["restless"]


def fight(arena: World) -> None:
    check_a_fight_of(31, 20 * SECOND, Fight(arena))


def single_scales(arena: World) -> None:
    check_single_scales(Person(arena, 7), 60)


BUGS: dict[str, tuple[str, object, Check]] = {
    "no rule for contests": (
        "plan.contest_of",
        lambda takara, *_: Contest(record=takara.applied.replicas_taken_by),
        fight,
    ),
    "a wait that does not grow": ("contest.wait_after", lambda _: timedelta(minutes=10), fight),
    "a manual scale is left": ("contest.SHORTEST", timedelta(days=30), single_scales),
}


@pytest.mark.parametrize("name", BUGS)
def test_replicas(arena: World, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    target, bug, check = BUGS[name]
    monkeypatch.setattr(f"takara_sync.{target}", bug)
    with pytest.raises(AssertionError):
        check(arena)


def test_a_format_that_is_ignored(arena: World) -> None:
    arena.create(takara("one", 1))
    with pytest.raises(AssertionError):
        check_no_flip_flop(Versions(arena, accept_newer_format=True))


def test_a_pod_that_restarts_at_the_take_over(arena: World, monkeypatch: pytest.MonkeyPatch) -> None:
    become_newer(monkeypatch)
    with pytest.raises(AssertionError):
        check_they_settle(Both(arena), "it")


def test_a_takara_that_starves(restless: Restless, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takara_sync.sync.next_start", lambda order, _: min(attempt.key for attempt in order))
    with pytest.raises(AssertionError):
        check_nobody_starves(restless, rounds=1)
