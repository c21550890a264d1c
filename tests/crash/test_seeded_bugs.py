"""Tests of the tests: for each promise a program that breaks it, and the words by which it is found out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.crash import bugs
from tests.crash.process import Kind
from tests.crash.situations import BY_NAME, EDITED, TAKEN_BACK
from tests.crash.survival import survived
from tests.crash.test_edits import after_an_edit, edited_anywhere, sizes_and_deployments_edited, sizes_edited
from tests.crash.test_transient import Flaky, done_all_the_same

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.crash.simulation import Simulation
    from tests.crash.survival import Story, Tell

    Bug = Callable[[pytest.MonkeyPatch], None]
    Check = Callable[[Simulation, Story], object]


def everywhere(kind: Kind, check: Callable[..., None] = survived) -> Check:
    def stopped_everywhere(simulation: Simulation, story: Story) -> None:
        for index, point in story.points([kind]):
            check(simulation, story, index, point)

    return stopped_everywhere


# Already the pass that nothing stops shows these.
IN_THE_STORY: list[tuple[Bug, str, str]] = [
    (bugs.a_create_that_adopts, "blocked by a deployment of nobody", "is not this Takara's"),
    (bugs.a_status_is_believed, "scaled by kubectl", "replicas is 7, not 3"),
    (bugs.a_status_with_the_time, "nothing to do", "never settles"),
]

# And these only what happens in the middle of it.
IN_THE_MIDDLE: list[tuple[Bug, str, Check, str]] = [
    (bugs.what_has_no_record_is_made_anew, "create", everywhere(Kind.LOST), "was created 2 times"),
    (bugs.a_take_over_in_two_halves, "take over with env", everywhere(Kind.BEFORE), "before-takara-sync"),
    (bugs.a_status_over_any_other, "create", everywhere(Kind.LATE), "a settled state is written"),
    (bugs.one_try_only, "size changed", everywhere(Kind.ALIVE), "FAILED"),
    (
        bugs.a_lost_response_is_forgotten,
        "size changed",
        lambda simulation, story: done_all_the_same(simulation, story, Flaky(status=0)),
        "False, \\[\\]",
    ),
    (
        bugs.a_record_is_believed,
        "edited",
        everywhere(Kind.LOST, partial(after_an_edit, edit=TAKEN_BACK)),
        "images is",
    ),
]


def _id(value: object) -> str | None:
    return getattr(value, "__name__", None)


@pytest.mark.parametrize(("bug", "name", "words"), IN_THE_STORY, ids=_id)
def test_in_the_story(tell: Tell, monkeypatch: pytest.MonkeyPatch, bug: Bug, name: str, words: str) -> None:
    bug(monkeypatch)
    with pytest.raises(AssertionError, match=words):
        tell(BY_NAME[name])


@pytest.mark.parametrize(("bug", "name", "check", "words"), IN_THE_MIDDLE, ids=_id)
def test_in_the_middle(
    tell: Tell, monkeypatch: pytest.MonkeyPatch, bug: Bug, name: str, check: Check, words: str
) -> None:
    bug(monkeypatch)
    simulation, story = tell({**BY_NAME, EDITED.name: EDITED}[name])
    with pytest.raises(AssertionError, match=words):
        check(simulation, story)


@pytest.mark.parametrize(
    ("bug", "name", "edit", "words"),
    [
        (bugs.a_status_write_that_applies, "size changed", (sizes_edited, None), "replicas of one were not logged"),
        (bugs.a_limit_on_the_plan_only, "label removed", (sizes_and_deployments_edited, 0), "were changed, 0 allowed"),
    ],
    ids=_id,
)
def test_beside_an_edit(
    tell: Tell,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    bug: Bug,
    name: str,
    edit: tuple[Callable[[Simulation], None], int | None],
    words: str,
) -> None:
    simulation, _ = tell(BY_NAME[name])
    simulation.checks_status = False
    caplog.set_level("INFO", "takara_sync")
    bug(monkeypatch)
    with pytest.raises(AssertionError, match=words):
        edited_anywhere(simulation, *edit, caplog)
