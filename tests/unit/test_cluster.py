"""The dry run: a wrapper that reads, and returns what the API server would."""

from __future__ import annotations

import pytest

from takara_sync.cluster import Cluster, DryRun
from takara_sync.deadline import Deadline
from takara_sync.errors import Conflict
from takara_sync.objects import Key
from takara_sync.plan import Policy
from takara_sync.report import Result
from takara_sync.sync import sync_once
from tests.support.takaras import takara as manifest_of
from tests.unit.build import deployment, manifest, owner
from tests.unit.world import World

NOW = Deadline()
NAMES = ("scaled", "kept", "created", "legacy", "paused", "invalid", "blocked")


@pytest.fixture
def world() -> World:
    """A Takara of each kind."""
    made = World(*(manifest_of(name, 3) for name in NAMES[:2]))
    made.sync()
    made.create("ns", *(manifest_of(name, -1 if name == "invalid" else 3) for name in NAMES[2:]))
    made.scale("scaled")
    made.deploy("legacy")
    made.pause("paused")
    made.deploy("blocked", ownerReferences=[owner("blocked", uid="older")])
    made.minutes = 1
    return made


def pass_over(world: World, cluster: Cluster, policy: Policy = Policy()) -> list[tuple[str, Result, list[str]]]:  # noqa: B008 - frozen
    world.calls.clear()
    outcomes = sync_once(cluster, policy, workers=1, now=world.now).outcomes
    return [(o.key.name, o.result, [change.field for change in o.changes]) for o in outcomes]


@pytest.mark.parametrize("limit", [None, 100, 0])
def test_a_dry_run_writes_nothing(world: World, limit: int | None) -> None:
    before = [world.items("Takara"), world.items("Deployment")]
    assert pass_over(world, DryRun(world.cluster), Policy(max_changes=limit))
    assert (bool(world.calls), world.writes) == (True, [])
    assert [world.items("Takara"), world.items("Deployment")] == before


def test_a_dry_run_reports_what_the_real_run_does(world: World) -> None:
    dry = pass_over(world, DryRun(world.cluster))
    assert dry == pass_over(world, world.cluster)
    assert {result for _, result, _ in dry} >= {Result.CREATED, Result.UPDATED, Result.TAKEN_OVER, Result.UNCHANGED}


def test_a_pretended_create_finds_what_the_list_did_not_hold(world: World) -> None:
    dry = DryRun(world.cluster)
    with pytest.raises(Conflict):
        dry.create(manifest("legacy"), NOW)
    made = dry.create(manifest("two", 5), NOW)
    assert (made.key, made.replicas) == (Key("ns", "two"), 5)


def test_a_pretended_apply_is_of_another_version_where_it_changes_something(world: World) -> None:
    live, dry = deployment(status={"replicas": 3}), DryRun(world.cluster)
    after = dry.apply(live, manifest(replicas=5), NOW)
    assert (after.replicas, after.status.replicas, after.uid) == (5, 3, live.uid)
    assert after.metadata.resource_version != live.metadata.resource_version
    assert dry.apply(live, manifest(), NOW) is live
