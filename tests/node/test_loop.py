"""The shipped Deployment: a pass every ten seconds in one pod that stays, and how that pod ends."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.control_plane.waiting import wait_until
from tests.node.cluster import INSTALLED_IN, Cluster
from tests.support.takaras import takara

pytestmark = pytest.mark.node

HERE = f"--namespace={INSTALLED_IN}"
# In the order in which the signal can meet it: between two passes, in one.
ENDED_BY_ITSELF = {0, 4}


@pytest.fixture(scope="module", autouse=True)
def installed(cluster: Cluster) -> Iterator[None]:
    with cluster.installed("--mode=loop"):
        cluster.kubectl("rollout", "status", "deployment/takara-sync", HERE, "--timeout=50s")
        yield


def not_followed(cluster: Cluster, namespace: str, size: int) -> str:
    ask = ("get", "deployment/looped", f"--namespace={namespace}", "--output=jsonpath={.spec.replicas}")
    found = cluster.kubectl(*ask, check=False)
    return "" if found.stdout == str(size) else f"size {size} is not followed: {found.stdout}{found.stderr}"


def test_it_creates_and_follows_within_15_seconds(cluster: Cluster, namespace: str) -> None:
    for size in (1, 2):
        cluster.apply(takara("looped", size=size), namespace=namespace)
        wait_until(functools.partial(not_followed, cluster, namespace, size), within=15.0, every=0.2)
    (pod,) = cluster.items("pods", HERE)
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 0


def test_sigterm_ends_it_in_under_two_seconds(cluster: Cluster) -> None:
    (pod,) = cluster.items("pods", HERE)
    with_it = ("pod", pod["metadata"]["name"], HERE)
    # A finalizer of ours: the pod stays to be looked at when it has ended.
    cluster.kubectl("patch", *with_it, "--type=merge", '--patch={"metadata":{"finalizers":["test.takara.org/look"]}}')
    try:
        cluster.kubectl("delete", *with_it, "--wait=false")
        ended: dict[str, Any] = {}

        def running() -> str:
            ended.update(cluster.get(*with_it))
            return "" if "terminated" in ended["status"]["containerStatuses"][0]["state"] else "it runs"

        wait_until(running, within=50.0, every=0.2)
    finally:
        cluster.kubectl("patch", *with_it, "--type=merge", '--patch={"metadata":{"finalizers":null}}')
    grace = datetime.timedelta(seconds=ended["metadata"]["deletionGracePeriodSeconds"])
    told = moment(ended["metadata"]["deletionTimestamp"]) - grace
    terminated = ended["status"]["containerStatuses"][0]["state"]["terminated"]
    # Both are cut to whole seconds: two apart can be little more than one.
    assert moment(terminated["finishedAt"]) - told <= datetime.timedelta(seconds=2)
    assert terminated["exitCode"] in ENDED_BY_ITSELF  # 137 is what SIGKILL leaves, 143 an unhandled SIGTERM


def moment(timestamp: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(timestamp)
