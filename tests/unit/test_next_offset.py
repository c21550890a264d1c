"""Where the next pass begins after one that was cut short."""

from __future__ import annotations

import pytest

from takara_sync.account import next_offset
from takara_sync.errors import CutShort
from takara_sync.objects import Key
from takara_sync.report import Outcome, Report, Result
from tests.unit.build import NOW

DONE, LATE = Outcome(Key("ns", "one"), Result.UNCHANGED), Outcome(Key("ns", "one"), Result.NOT_REACHED, "NotReached")
UNTOLD = Outcome(Key("ns", "one"), Result.UPDATED, "CutShort")
UNREAD = Outcome(Key("ns", "one"), Result.FAILED, "Unread")


def after(*outcomes: Outcome, offset: int = 0) -> int:
    return next_offset(Report(outcomes, NOW, 1.0, CutShort("late")), offset)


@pytest.mark.parametrize(
    ("outcomes", "offset", "expected"),
    [
        ((DONE, DONE, LATE, LATE), 0, 2),
        ((LATE, LATE, DONE, DONE), 2, 4),
        ((DONE, LATE, DONE, LATE), 2, 3),
        ((DONE, LATE, DONE, DONE), 6, 9),
        ((DONE, UNTOLD, UNTOLD, LATE), 0, 1),
    ],
    ids=["behind what was done", "round the end", "not by count", "behind a whole round", "untold is unfinished"],
)
def test_the_first_that_was_not_finished_is_the_next_one(
    outcomes: tuple[Outcome, ...], offset: int, expected: int
) -> None:
    assert after(*outcomes, offset=offset) % 4 == expected % 4


def test_who_is_at_rest_does_not_count() -> None:
    """Two at rest behind one that is late: it is the late one's turn, and not that of whoever is three further."""
    assert after(DONE, LATE, DONE, DONE) == 1


def test_a_pass_too_short_to_tell_goes_on_behind_what_it_changed() -> None:
    assert after(UNTOLD, UNTOLD, LATE, LATE) == 2


def test_one_that_came_nowhere_is_tried_again_from_there() -> None:
    assert after(LATE, LATE, offset=5) == 5


def test_what_could_not_be_decided_has_no_turn() -> None:
    assert after(UNREAD, DONE, LATE) == 1


@pytest.mark.parametrize("outcomes", [(), (DONE, DONE)], ids=["nothing", "everything done"])
def test_nothing_left_leaves_it_there(outcomes: tuple[Outcome, ...]) -> None:
    assert after(*outcomes, offset=5) == 5
