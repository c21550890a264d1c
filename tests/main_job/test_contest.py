"""Somebody else keeps taking the replicas: they are taken back after ten minutes, then after twenty."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from takara_sync import KubeCluster, sync_once
from tests.support.takaras import takara
from tests.tool import Tool
from tests.world import World

START = datetime(2030, 1, 1, 12, tzinfo=UTC)
# When passes run, in minutes; whether the other one has just set 7 replicas; and how many there are after the pass.
STORY = [(0, False, 3), (1, True, 3), (2, True, 7), (10.9, False, 7), (11.1, False, 3), (12, True, 7)]
STORY += [(30, False, 7), (31.2, False, 3)]


def test_it_is_tried_again_after_ten_minutes_then_after_twenty(world: World, tool: Tool) -> None:
    cluster = KubeCluster.connect(str(tool.user.kubeconfig), namespaces=[world.namespace])
    world.create(takara("one", 3))
    for minutes, takes, replicas in STORY:
        if takes:
            world.kubectl("scale", "deployment/one", "--replicas=7")
        report = sync_once(cluster, now=lambda minutes=minutes: START + timedelta(minutes=minutes))  # type: ignore[misc]
        assert (report.exit, world.deployment("one")["spec"]["replicas"]) == (0, replicas), minutes
