"""The deadline with a clock of the test's own, and the dry run over a cluster that records."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from takara_sync.cluster import Deadline, DryRun
from takara_sync.errors import Changed, CutShort
from takara_sync.objects import Deployment, Key
from takara_sync.plan import Policy
from takara_sync.report import Result
from takara_sync.sync import sync_once
from tests.unit.build import (
    NOW,
    PAUSED,
    body,
    deployment,
    deployment_json,
    legacy,
    owner,
    pod_json,
    scaled,
    settled,
    takara,
    takara_json,
)
from tests.unit.fake import FakeCluster


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


# ------------------------------------------------------------------ Deadline


def test_time_runs_out() -> None:
    clock = Clock()
    deadline = Deadline(50, clock)
    assert deadline.left() == deadline.left_for_requests() == 50
    clock.seconds += 49.5
    deadline.check()
    assert deadline.left() == 0.5
    clock.seconds += 0.5
    assert deadline.left() == deadline.left_for_requests() == 0
    clock.seconds += 100
    assert deadline.left() == 0
    with pytest.raises(CutShort, match="by its deadline of 50 s"):
        deadline.check()


def test_a_stop_leaves_requests_in_hand_their_time() -> None:
    deadline = Deadline(50, Clock())
    deadline.stop("SIGTERM")
    deadline.stop("a second reason")
    assert (deadline.left(), deadline.left_for_requests()) == (0, 50)
    with pytest.raises(CutShort, match="cut short by SIGTERM"):
        deadline.check()


def test_without_a_limit_only_a_stop_ends_it() -> None:
    deadline = Deadline()
    deadline.check()
    assert deadline.left() == float("inf")
    deadline.stop("you")
    with pytest.raises(CutShort):
        deadline.check()


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_a_deadline_of_nothing_is_over(seconds: float) -> None:
    with pytest.raises(CutShort):
        Deadline(seconds, Clock()).check()


def test_waiting_ends_at_the_deadline() -> None:
    began = time.monotonic()
    Deadline(0.05).wait(60)
    Deadline(60).wait(-1)
    Deadline(0).wait(float("inf"))
    assert 0.04 < time.monotonic() - began < 5


def test_waiting_ends_with_a_stop() -> None:
    deadline = Deadline()
    timer = threading.Timer(0.05, deadline.stop, ["somebody"])
    timer.start()
    began = time.monotonic()
    deadline.wait(float("inf"))
    assert time.monotonic() - began < 5
    timer.join()


# ------------------------------------------------------------------ DryRun


def a_case_of_each() -> FakeCluster:
    return FakeCluster(
        takara_json("created"),
        settled("scaled"),
        scaled(deployment_json("scaled"), 7),
        takara_json("legacy"),
        legacy(deployment_json("legacy")) | {},
        settled("kept"),
        deployment_json("kept"),
        takara_json("paused", annotations=PAUSED),
        takara_json("invalid", size=-1),
        takara_json("blocked"),
        deployment_json("blocked", ownerReferences=[owner(uid="older")]),
        pod_json("kept", "p"),
    )


@pytest.mark.parametrize("policy", [Policy(), Policy(max_changes=100), Policy(max_changes=0)])
def test_a_dry_run_writes_nothing(policy: Policy) -> None:
    cluster = a_case_of_each()
    sync_once(DryRun(cluster), policy, now=lambda: NOW)
    assert cluster.requests
    assert cluster.writes == []


def test_a_dry_run_tells_what_the_real_run_does() -> None:
    def done(cluster: Any) -> list[tuple[str, Result, list[str]]]:
        outcomes = sync_once(cluster, now=lambda: NOW).outcomes
        return [(o.key.name, o.result, [change.field for change in o.changes]) for o in outcomes]

    dry = done(DryRun(a_case_of_each()))
    assert dry == done(a_case_of_each())
    assert {result for _, result, _ in dry} >= {Result.CREATED, Result.UPDATED, Result.TAKEN_OVER, Result.UNCHANGED}


def test_a_pretended_create_finds_what_the_list_did_not_hold() -> None:
    cluster = FakeCluster(legacy(deployment_json()))
    with pytest.raises(Changed):
        DryRun(cluster).create(body())
    made = DryRun(cluster).create(body("two", 5))
    assert (made.key, made.replicas) == (Key("ns", "two"), 5)


def test_a_pretended_apply_is_of_another_version() -> None:
    live = deployment(status={"replicas": 3})
    after = DryRun(FakeCluster()).apply(live, body(replicas=5))
    assert (after.replicas, after.status.replicas, after.uid) == (5, 3, live.uid)
    assert after.metadata.resource_version != live.metadata.resource_version


def test_reads_go_through() -> None:
    cluster = a_case_of_each()
    dry = DryRun(cluster)
    assert dry.deadline is cluster.deadline
    assert len(dry.pods().items) == 1
    assert dry.takara(Key("ns", "kept")) == cluster.takara(Key("ns", "kept"))
    assert isinstance(dry.deployment(Key("ns", "kept")), Deployment)
    assert dry.takara(Key("ns", "nobody")) is None
    dry.tell(takara(), [{"op": "add"}])
    assert cluster.writes == []
