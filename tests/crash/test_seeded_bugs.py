"""Tests of the tests: for each promise a program that breaks it, and the words by which it is found out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from tests.crash import bugs
from tests.crash.process import Kind
from tests.crash.simulation import Simulation
from tests.crash.situations import BY_NAME, EDITED, TAKEN_BACK
from tests.crash.survival import Story, Tell, survived
from tests.crash.test_edits import (
    after_an_edit,
    another_pass,
    met_anywhere,
    sizes_and_deployments_edited,
    sizes_edited,
)
from tests.crash.transient import Flaky, done_all_the_same

Check = Callable[[Simulation, Story, pytest.LogCaptureFixture], object]


def stopped(kind: Kind, check: Callable[..., None] = survived) -> Check:
    def everywhere(simulation: Simulation, story: Story, _: pytest.LogCaptureFixture) -> None:
        for index, point in story.points([kind]):
            check(simulation, story, index, point)

    return everywhere


def beside(somebody: Callable[[Simulation], None], limit: int | None = None) -> Check:
    def everywhere(simulation: Simulation, _: Story, caplog: pytest.LogCaptureFixture) -> None:
        simulation.checks_status = False
        caplog.set_level("INFO", "takara_sync")
        met_anywhere(simulation, somebody, limit, caplog)

    return everywhere


def lost_once(simulation: Simulation, story: Story, _: pytest.LogCaptureFixture) -> None:
    done_all_the_same(simulation, story, Flaky(status=0))


def undisturbed(*_: object) -> None:
    """The story itself shows it."""


FOUND: dict[str, tuple[bugs.Bug, str, Check, str]] = {
    "a create that adopts": (
        bugs.A_CREATE_THAT_ADOPTS,
        "blocked by a deployment of nobody",
        undisturbed,
        "is not this Takara's",
    ),
    "what has no record is made anew": (
        bugs.WHAT_HAS_NO_RECORD_IS_MADE_ANEW,
        "create",
        stopped(Kind.LOST),
        "none of the writes that the tool has",
    ),
    "a take-over in two halves": (
        bugs.A_TAKE_OVER_IN_TWO_HALVES,
        "take over with env",
        stopped(Kind.BEFORE),
        "before-takara-sync",
    ),
    "a late status over any other": (
        bugs.A_STATUS_OVER_ANY_OTHER,
        "create",
        stopped(Kind.LATE),
        "a settled state is written",
    ),
    "a record is believed": (
        bugs.A_RECORD_IS_BELIEVED,
        "edited",
        stopped(Kind.LOST, partial(after_an_edit, edit=TAKEN_BACK)),
        "images is",
    ),
    "one try only": (bugs.ONE_TRY_ONLY, "size changed", stopped(Kind.ALIVE), "FAILED"),
    "a lost response is forgotten": (
        bugs.A_LOST_RESPONSE_IS_FORGOTTEN,
        "size changed",
        lost_once,
        "False, \\[\\]",
    ),
    "an apply without a version": (
        bugs.AN_APPLY_WITHOUT_VERSION,
        "size changed",
        beside(another_pass),
        "was at its size",
    ),
    "a spec read before the Deployment": (
        bugs.A_SPEC_READ_BEFORE_THE_DEPLOYMENT,
        "take over",
        beside(another_pass),
        "was at its size",
    ),
    "an older status over a newer one": (
        bugs.A_STATUS_OVER_ANY_OTHER,
        "size changed",
        beside(another_pass),
        "went back to generation",
    ),
    "a status write that applies": (
        bugs.A_STATUS_WRITE_THAT_APPLIES,
        "size changed",
        beside(sizes_edited),
        "replicas of one were not logged",
    ),
    "a limit on the plan only": (
        bugs.A_LIMIT_ON_THE_PLAN_ONLY,
        "label removed",
        beside(sizes_and_deployments_edited, limit=0),
        "were changed, 0 allowed",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_broken_promise_is_found(
    tell: Tell, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    (where, attribute, wrong), situation, check, words = FOUND[name]
    monkeypatch.setattr(where, attribute, wrong)
    with pytest.raises(AssertionError, match=words):
        check(*tell({**BY_NAME, EDITED.name: EDITED}[situation]), caplog)
