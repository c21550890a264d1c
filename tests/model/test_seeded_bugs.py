"""Tests of the tests: with one rule of the product broken, the machine is seen to name the breach.

Each bug has a story, the rules that bring it out; unbroken, the same story passes. A few are found by chance too.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

import takara_sync.act
import takara_sync.contest
import takara_sync.desired
import takara_sync.plan
import takara_sync.status
import takara_sync.sync
import takara_sync.tell
from takara_sync.fields import take_over
from takara_sync.kube import decode
from takara_sync.kube.cluster import KubeCluster
from takara_sync.objects import Deployment, ManagedFieldsEntry, Takara
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
    "a create that adopts": (
        bugs.instead(KubeCluster, "create", bugs.adopting),
        stories.a_stranger_between_reading_and_creating,
        "a foreign Deployment was written",
    ),
    "an apply without the uid and version": (
        bugs.instead(KubeCluster, "apply", bugs.unstamped),
        stories.a_note_at_rest,
        "a version that it was not made for",
    ),
    "the metadata of others is applied": (
        bugs.around(takara_sync.plan, "sealed", bugs.with_metadata_of_others),
        stories.a_note_at_rest,
        "not what the Takara asks for",
    ),
    "the containers of others are applied": (
        bugs.around(takara_sync.plan, "sealed", bugs.all_containers),
        stories.a_sidecar_of_somebody,
        "a field of others was changed|not what the Takara asks for",
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
    "paused is not heard": (
        bugs.instead(Takara, "paused", property(lambda _: False)),
        stories.paused_and_scaled,
        "the Deployment of a paused Takara is written",
    ),
    "any size is believed": (
        bugs.instead(takara_sync.plan, "problem_of", lambda *_, **__: None),
        stories.an_invalid_edit,
        "the Deployment of an invalid Takara is written",
    ),
    "a Deployment that goes is written": (
        bugs.instead(Deployment, "deleting", property(lambda _: False)),
        stories.a_deployment_that_goes,
        "seen to be going",
    ),
    "Ready without the generation": (
        bugs.instead(takara_sync.status, "_complete", lambda live, size: live.status.available_replicas == size),
        stories.a_rollout_that_lags,
        "Ready, but never seen complete|complete is False, but Ready True",
    ),
    "never Ready": (
        bugs.instead(takara_sync.status, "_complete", lambda *_: False),
        stories.a_converged_one,
        "complete is True, but Ready False",
    ),
    "stray pods count": (
        bugs.instead(takara_sync.status, "_made_by", lambda *_: True),
        stories.stray_pods,
        "nodes that do not belong to it",
    ),
    "statuses are always written": (
        bugs.around(takara_sync.tell, "patch_for", bugs.whole_patch),
        stories.a_converged_one,
        "a settled state is written",
    ),
    "applied in each pass": (
        bugs.instead(takara_sync.plan, "as_recorded", lambda *_, **__: False),
        stories.a_converged_one,
        "a settled state is written",
    ),
    "exit 0 after a failure": (
        bugs.instead(Report, "exit", property(lambda _: Exit.OK)),
        stories.a_template_that_is_refused,
        "exit 0, but",
    ),
    "a contest without end": (
        bugs.instead(takara_sync.contest, "_elapsed", lambda *_: timedelta(0)),
        stories.a_contest,
        "contested for more than a day",
    ),
    "a contest at the first scale": (
        bugs.instead(takara_sync.plan, "contest_of", bugs.at_once),
        stories.a_single_scale,
        "contested, but nobody had taken the replicas before",
    ),
    "somebody is accused who took nothing": (
        bugs.instead(takara_sync.contest, "holders", lambda *_: [ManagedFieldsEntry("innocent")]),
        stories.a_single_scale,
        "replicas were never taken by innocent",
    ),
    "the generation of another moment is told": (
        bugs.around(takara_sync.tell, "status_for", lambda found, *_: found | {"observedGeneration": 99}),
        stories.an_edit_meanwhile,
        "observedGeneration 99",
    ),
    "an empty list of pods where it failed": (
        bugs.instead(KubeCluster, "pods", bugs.or_nothing),
        stories.a_list_that_fails,
        "told without a list of the pods",
    ),
    "conditions of others are dropped": (
        bugs.instead(takara_sync.status, "_others", lambda _: []),
        stories.an_audit,
        "the condition Audited of somebody else was changed",
    ),
    "lastTransitionTime moves each time": (
        bugs.around(takara_sync.status, "_condition", bugs.just_now),
        stories.a_single_scale,
        "moved its lastTransitionTime",
    ),
    "the time of our entry is not recorded": (
        bugs.instead(takara_sync.desired, "own_time", lambda _: ""),
        stories.killed_before_it_told,
        "not as asked for",
    ),
    "--max-changes is not heard": (
        bugs.instead(takara_sync.sync, "guard", lambda *_: None),
        stories.more_than_the_limit,
        "more is changed than --max-changes allows",
    ),
    "a refused apply forgets the Deployment": (
        bugs.instead(takara_sync.act, "_as_seen", lambda handled: handled),
        stories.a_rejected_one_without_its_label,
        "nodes are",
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


CHANCE = (
    "paused is not heard",
    "applied in each pass",
    "Ready without the generation",
    "the metadata of others is applied",
)
RUNS = 100


@pytest.mark.parametrize("name", CHANCE)
def test_chance_finds_it_too(name: str, seed: int) -> None:
    bug, _, words = BUGS[name]
    machine = on_the_simulator()
    with bug, pytest.raises(AssertionError, match=words):
        run(machine, seed, runs=RUNS, steps=40, shrink=False)
