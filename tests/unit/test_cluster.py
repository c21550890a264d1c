"""The dry run: a wrapper that reads, and returns what the API server would. That a dry run is what a pass does, and
writes nothing: commands/test_plan_equals_pass.py.
"""

from __future__ import annotations

import pytest

from takara_sync.cluster import DryRun
from takara_sync.deadline import Deadline
from takara_sync.errors import Conflict
from takara_sync.objects import Key
from tests.support.takaras import takara as manifest_of
from tests.unit.build import deployment, manifest
from tests.unit.world import World

NOW = Deadline()


def test_a_pretended_create_finds_what_the_list_did_not_hold() -> None:
    world = World(manifest_of("legacy", 3))
    world.deploy("legacy")
    dry = DryRun(world.cluster)
    with pytest.raises(Conflict):
        dry.create(manifest("legacy"), NOW)
    made = dry.create(manifest("two", 5), NOW)
    assert (made.key, made.replicas, world.writes) == (Key("ns", "two"), 5, [])


def test_a_pretended_apply_is_of_another_version_where_it_changes_something() -> None:
    live, dry = deployment(status={"replicas": 3}), DryRun(World().cluster)
    after = dry.apply(live, manifest(replicas=5), NOW)
    assert (after.replicas, after.status.replicas, after.uid) == (5, 3, live.uid)
    assert after.metadata.resource_version != live.metadata.resource_version
    assert dry.apply(live, manifest(), NOW) is live
