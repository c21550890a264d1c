"""Tests of the tests: with one rule of the product broken, the machine is seen to name the breach.

There is one bug for each function of the law. Each has a story, the rules that bring it out; unbroken, the same story
passes. One is found by chance too.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import takara_sync.plan
import takara_sync.record
import takara_sync.status
from takara_sync.change_limit import ChangeLimit
from takara_sync.managed_fields import take_over
from takara_sync.objects import Pod, Takara
from takara_sync.record import config_hash
from takara_sync.report import Exit, Report
from tests.model import bugs, stories
from tests.model.machine import OnTheSimulator
from tests.model.test_model import run

Story = Callable[[OnTheSimulator], None]

BUGS: dict[str, tuple[bugs.Patch, Story, str]] = {
    "a Deployment of nobody is adopted": (
        bugs.instead(takara_sync.plan, "controlled_by", lambda *_: True),
        stories.a_stranger,
        "foreign",
    ),
    "the metadata of others is applied": (
        bugs.around(takara_sync.plan, "with_identity", bugs.with_metadata_of_others),
        stories.a_note_at_rest,
        "not what the Takara asks for",
    ),
    "a take-over takes the entries of all": (
        bugs.instead(takara_sync.plan, "take_over", bugs.everything_moves(take_over)),
        stories.the_go_operators,
        "the managedFields of others were changed",
    ),
    "paused is ignored": (
        bugs.instead(Takara, "paused", property(lambda _: False)),
        stories.paused_and_scaled,
        "the Deployment of a paused Takara is written",
    ),
    "stray pods count": (
        bugs.instead(Pod, "belongs_to", lambda pod, _: not pod.deleting),
        stories.stray_pods,
        "nodes that do not belong to it",
    ),
    "exit 0 after a failure": (
        bugs.instead(Report, "exit", property(lambda _: Exit.OK)),
        stories.a_template_that_is_refused,
        "exit 0, but",
    ),
    "--max-changes is ignored": (
        bugs.instead(ChangeLimit, "allows", lambda *_: True),
        stories.more_than_the_limit,
        "more is changed than --max-changes allows",
    ),
    "applied in each pass": (
        bugs.instead(takara_sync.plan, "is_as_recorded", lambda *_: False),
        stories.a_converged_one,
        "a settled state is written",
    ),
    "the time of our entry is not recorded": (
        bugs.instead(takara_sync.record, "config_hash", lambda one, ours: config_hash(one, ours._replace(time=""))),
        stories.killed_before_its_status,
        "not as asked for",
    ),
}


@pytest.mark.parametrize("name", BUGS)
def test_a_broken_rule_is_noticed(name: str) -> None:
    bug, story, words = BUGS[name]
    played(story)
    with bug, pytest.raises(AssertionError, match=words):
        played(story)


def played(story: Story) -> None:
    """The story and its end."""
    machine = OnTheSimulator()
    machine.start()
    story(machine)
    machine.lawful()
    machine.teardown()


def test_chance_finds_one_too(seed: int) -> None:
    bug, _, words = BUGS["the metadata of others is applied"]
    with bug, pytest.raises(AssertionError, match=words):
        run(OnTheSimulator, seed, runs=100, steps=40, shrink=False)
