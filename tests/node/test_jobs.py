"""Jobs made from the shipped CronJob: what a refused Takara does to them, and what a tenant's mistake does not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.control_plane.waiting import wait_until
from tests.node.cluster import INSTALLED_IN, NEVER, condition
from tests.support.takaras import takara

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.node.cluster import Cluster

pytestmark = pytest.mark.node

NO_DEPLOYMENTS: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "no-deployments"},
    "spec": {"hard": {"count/deployments.apps": "0"}},
}


@pytest.fixture(scope="module", autouse=True)
def installed(cluster: Cluster) -> Iterator[None]:
    with cluster.installed("--mode=once", NEVER):
        yield


def refuse_deployments(cluster: Cluster, namespace: str) -> None:
    cluster.apply(NO_DEPLOYMENTS, namespace=namespace)
    quota = ("resourcequota/no-deployments", f"--namespace={namespace}")
    wait_until(lambda: "" if "hard" in cluster.get(*quota)["status"] else "the quota is not counted yet", within=30.0)


def test_a_refused_takara_fails_its_job_and_the_next_one_mends_it(cluster: Cluster, namespace: str) -> None:
    refuse_deployments(cluster, namespace)
    cluster.apply(takara("refused", size=1), namespace=namespace)
    verdict, terminated, log = cluster.result_of(cluster.job_from_cronjob())
    assert (verdict, terminated["exitCode"]) == ("Failed", 1)
    for told in (log, terminated["message"]):
        assert f"{namespace}/refused" in told
        assert "exceeded quota: no-deployments" in told
    stalled = condition(cluster.get("takara", "refused", f"--namespace={namespace}"), "Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", "ApplyFailed")
    assert "active" not in cluster.get("cronjob", "takara-sync", f"--namespace={INSTALLED_IN}")["status"]

    cluster.kubectl("delete", "resourcequota", "no-deployments", f"--namespace={namespace}")
    verdict, terminated, _ = cluster.result_of(cluster.job_from_cronjob())
    assert (verdict, terminated["exitCode"]) == ("Complete", 0)
    assert cluster.get("deployment", "refused", f"--namespace={namespace}")["spec"]["replicas"] == 1


def test_the_termination_message_says_why_among_many_others(cluster: Cluster, namespace: str) -> None:
    refuse_deployments(cluster, namespace)
    cluster.apply(takara("refused", size=1), namespace=namespace)
    with cluster.namespace("unremarkable") as others:  # reports are sorted: these come last
        cluster.apply(*(takara(f"other-{number}", size=0) for number in range(20)), namespace=others)
        _, terminated, _ = cluster.result_of(cluster.job_from_cronjob())
    assert "exceeded quota: no-deployments" in terminated["message"]


def test_a_tenants_mistake_is_told_and_does_not_redden_the_job(cluster: Cluster, namespace: str) -> None:
    cluster.apply(takara("too-large", size=1001), namespace=namespace)
    verdict, _, log = cluster.result_of(cluster.job_from_cronjob())
    assert verdict == "Complete"
    reports = [json.loads(line) for line in log.splitlines()]
    assert any("too-large" in json.dumps(report) for report in reports)
    stalled = condition(cluster.get("takara", "too-large", f"--namespace={namespace}"), "Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", "SizeTooLarge")
