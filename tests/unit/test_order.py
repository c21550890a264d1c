"""In which order Takaras are written, and where the next pass begins."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from msgspec.structs import replace

from takara_sync.attempt import Attempt, begin
from takara_sync.objects import Key
from takara_sync.order import in_turn, next_start, start_at
from takara_sync.plan import Create, Plan
from takara_sync.report import Result
from tests.unit.build import NOW, takara

KEYS = [Key(*name.split("/")) for name in ("a/1", "a/2", "b/1", "b/2", "b/3", "c/1")]


def attempts() -> dict[Key, Attempt]:
    metadata = takara().metadata
    named = [replace(takara(), metadata=replace(metadata, namespace=key.namespace, name=key.name)) for key in KEYS]
    return begin(Plan(tuple(Create(one, {}) for one in reversed(named))))


@pytest.mark.parametrize(
    ("start", "order"),
    [
        (None, "a/1 a/2 b/1 b/2 b/3 c/1"),
        (Key("b", "2"), "b/2 b/3 b/1 c/1 a/2 a/1"),
        (Key("b", "zz"), "b/1 b/2 b/3 c/1 a/1 a/2"),
        (Key("bb", "1"), "c/1 a/1 a/2 b/1 b/2 b/3"),
        (Key("z", ""), "a/1 a/2 b/1 b/2 b/3 c/1"),
    ],
)
def test_the_order_begins_with_the_namespace_and_the_name_of_the_start(start: Key | None, order: str) -> None:
    assert " ".join(str(attempt.key) for attempt in in_turn(attempts(), start)) == order


def test_every_takara_is_the_first_one_at_some_time() -> None:
    """Of 1,000 passes a minute apart each of 40 Takaras begins about 25."""
    keys = [Key("ns", f"t{number:02}") for number in range(40)]
    firsts = Counter(start_at(keys, NOW + timedelta(minutes=number)) for number in range(1000))
    assert set(firsts) == set(keys)
    assert 20 <= min(firsts.values()) <= max(firsts.values()) <= 30
    assert start_at(list(reversed(keys)), NOW) == start_at(keys, NOW)
    assert start_at([], NOW) is None


@pytest.mark.parametrize(
    ("reached", "unwritten", "limited", "expected"),
    [
        (2, 0, False, "b/1"),
        (0, 0, False, "a/1"),
        (6, 0, False, "z/1"),
        (4, 2, False, "a/1"),
        (2, 0, True, "z/1"),
    ],
    ids=["the first that was not reached", "none was", "all were", "a status is unwritten", "by --max-changes"],
)
def test_the_next_pass_begins_with_the_first_that_is_not_finished(
    reached: int, unwritten: int, expected: str, *, limited: bool
) -> None:
    order = in_turn(attempts(), None)
    for attempt in order[:reached]:
        attempt.changed = Result.CREATED
    for attempt in order[:unwritten]:
        attempt.patch = [{"op": "add"}]
    for attempt in order:
        attempt.limited = limited
    assert str(next_start(order, Key("z", "1"))) == expected
