"""Tests of the tests: with one rule of the product broken, the machine is seen to name the breach.

Each bug has a story, the rules that bring it out; unbroken, the same story passes. A few are found by chance too.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

import takara_sync.contest
import takara_sync.ownership
import takara_sync.plan
import takara_sync.reconcile
import takara_sync.record
import takara_sync.status
from takara_sync.change_limit import ChangeLimit
from takara_sync.kube import decode
from takara_sync.kube.cluster import KubeCluster
from takara_sync.managed_fields import owned_by_us, take_over
from takara_sync.objects import Takara
from takara_sync.report import Exit, Report
from tests.model import bugs, stories
from tests.model.machine import OnTheSimulator, on_the_simulator
from tests.model.test_model import run

if TYPE_CHECKING:
    from collections.abc import Callable

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
    "a Takara that is being deleted is served": (
        bugs.around(decode, "listing", bugs.undeleted),
        stories.a_deletion_that_waits,
        "being deleted",
    ),
    "paused is ignored": (
        bugs.instead(Takara, "paused", property(lambda _: False)),
        stories.paused_and_scaled,
        "the Deployment of a paused Takara is written",
    ),
    "stray pods count": (
        bugs.instead(takara_sync.status, "_made_by", lambda *_: True),
        stories.stray_pods,
        "nodes that do not belong to it",
    ),
    "an empty list of pods where it failed": (
        bugs.instead(KubeCluster, "pods", bugs.or_nothing),
        stories.a_list_that_fails,
        "a status without a list of the pods",
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
    "a predecessor is waited for without end": (
        bugs.instead(takara_sync.ownership, "elapsed", lambda *_: timedelta(0)),
        stories.a_predecessor,
        "neither waited for nor blocked",
    ),
    "the time of our entry is not recorded": (
        bugs.instead(takara_sync.record, "owned_by_us", lambda entries: owned_by_us(entries)._replace(time="")),
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


CHANCE = ("paused is ignored", "the metadata of others is applied")
RUNS = 100


@pytest.mark.parametrize("name", CHANCE)
def test_chance_finds_it_too(name: str, seed: int) -> None:
    bug, _, words = BUGS[name]
    machine = on_the_simulator()
    with bug, pytest.raises(AssertionError, match=words):
        run(machine, seed, runs=RUNS, steps=40, shrink=False)
