"""Tests of the tests: for each rule a program that breaks it, and the words by which it is found out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.crash import bugs
from tests.crash.process import Kind
from tests.crash.situations import BY_NAME, EDITED, TAKEN_BACK
from tests.crash.survival import survived
from tests.crash.test_edits import after_an_edit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.crash.simulation import Simulation
    from tests.crash.survival import Story, Tell

    Bug = Callable[[pytest.MonkeyPatch, Path], None]

# Whoever looks at the story without a stop finds these.
IN_THE_STORY: list[tuple[Bug, str, str]] = [
    (bugs.a_create_that_adopts, "blocked by a deployment of nobody", "is not this Takara's"),
    (bugs.an_apply_that_is_recorded_before_it_is_done, "template changed", "before it was true"),
    (bugs.a_status_that_is_told_before_the_apply, "size changed", "before it was true"),
    (bugs.who_says_that_all_is_well_is_believed, "scaled by kubectl", "replicas is 7, not 3"),
    (bugs.a_status_that_tells_the_time, "nothing to do", "never settles"),
    (bugs.lists_that_are_read_twice, "nothing to do", "'GET deployments': 2"),
]

# And these only who stops it.
AT_A_POINT: list[tuple[Bug, str, Kind, str]] = [
    (bugs.what_has_no_record_is_made_anew, "create", Kind.LOST, "was created 2 times"),
    (bugs.what_has_no_record_is_applied_twice, "create", Kind.AFTER, "written {'"),
    (bugs.a_take_over_in_two_halves, "take over with env", Kind.BEFORE, "before-takara-sync"),
    (bugs.a_lock_that_is_left_behind, "nothing to do", Kind.BEFORE, "another copy is at work"),
    (bugs.a_status_that_is_written_unseen, "create", Kind.LATE, "a settled state is written"),
    (bugs.a_conflict_that_is_a_failure, "size changed", Kind.ALIVE, "FAILED"),
    (bugs.a_take_that_is_forgotten, "scaled by kubectl", Kind.ALIVE, "replicasTakenBy"),
]


def _stop_everywhere(simulation: Simulation, story: Story, kind: Kind, survived: Callable[..., None]) -> None:
    for index, point in story.points([kind]):
        survived(simulation, story, index, point)


def _id(value: object) -> str | None:
    return getattr(value, "__name__", None)


@pytest.mark.parametrize(("bug", "name", "words"), IN_THE_STORY, ids=_id)
def test_in_the_story(
    tell: Tell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bug: Bug, name: str, words: str
) -> None:
    bug(monkeypatch, tmp_path)
    with pytest.raises(AssertionError) as found:
        tell(BY_NAME[name])
    assert words in str(found.value)


@pytest.mark.parametrize(("bug", "name", "kind", "words"), AT_A_POINT, ids=_id)
def test_at_a_point(
    tell: Tell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bug: Bug, name: str, kind: Kind, words: str
) -> None:
    bug(monkeypatch, tmp_path)
    simulation, story = tell(BY_NAME[name])
    with pytest.raises(AssertionError) as found:
        _stop_everywhere(simulation, story, kind, survived)
    assert words in str(found.value)


def test_an_edit_that_is_taken_back(tell: Tell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What was applied in between is not told, and the record of what was there before fits again."""
    bugs.a_record_that_is_believed(monkeypatch, tmp_path)
    simulation, story = tell(EDITED)
    with pytest.raises(AssertionError, match="images is"):
        _stop_everywhere(simulation, story, Kind.AFTER, partial(after_an_edit, edit=TAKEN_BACK))
