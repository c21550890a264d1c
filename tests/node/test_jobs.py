"""Jobs made from the shipped CronJob: what a refused Takara does to them, and what their pods may do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.control_plane.waiting import wait_until
from tests.node.cluster import INSTALLED_IN, NEVER, Cluster, condition
from tests.support.takaras import takara

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
    """The termination message says why, though reports are sorted and many others come after it.

    A tenant's mistake is told, and does not redden the job.
    """
    refuse_deployments(cluster, namespace)
    cluster.apply(takara("refused", size=1), takara("too-large", size=1001), namespace=namespace)
    with cluster.namespace("unremarkable") as others:
        cluster.apply(*(takara(f"other-{number}", size=0) for number in range(20)), namespace=others)
        verdict, terminated, log = cluster.result_of(cluster.job_from_cronjob())
    assert (verdict, terminated["exitCode"]) == ("Failed", 1)
    for told in (log, terminated["message"]):
        assert f"{namespace}/refused" in told
        assert "exceeded quota: no-deployments" in told
    assert stalled(cluster, namespace, "refused") == ("True", "ApplyFailed")
    assert "active" not in cluster.get("cronjob", "takara-sync", f"--namespace={INSTALLED_IN}")["status"]

    cluster.kubectl("delete", "resourcequota", "no-deployments", f"--namespace={namespace}")
    verdict, terminated, log = cluster.result_of(cluster.job_from_cronjob())
    assert (verdict, terminated["exitCode"]) == ("Complete", 0)
    assert cluster.get("deployment", "refused", f"--namespace={namespace}")["spec"]["replicas"] == 1
    assert any("too-large" in json.dumps(json.loads(line)) for line in log.splitlines())
    assert stalled(cluster, namespace, "too-large") == ("True", "SizeTooLarge")


def stalled(cluster: Cluster, namespace: str, name: str) -> tuple[str, str]:
    found = condition(cluster.get("takara", name, f"--namespace={namespace}"), "Stalled")
    return found["status"], found["reason"]


# Standard library only, and no shell.
PROBE = """
import json, os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
refused = {}
for folder in ("/", "/tmp", "/opt", "/usr", "/var/tmp", os.getcwd()):
    try:
        open(os.path.join(folder, "written"), "w")
    except OSError as error:
        refused[folder] = error.strerror
    else:
        refused[folder] = ""
print(json.dumps({
    "status": {name: value.split() for name, value in status.items()},
    "write": refused,
    "services": [name for name in os.environ if name.startswith("TAKARA_SYNC_")],
}))
"""


def test_the_pod_has_no_right_writes_nowhere_and_sees_no_service(cluster: Cluster) -> None:
    """It tells so itself: the image's Python in place of takara-sync, all else as it is shipped."""
    job = cluster.job_from_cronjob({"command": ["python3", "-c", PROBE], "args": []})
    verdict, _, log = cluster.result_of(job)
    assert verdict == "Complete", log
    found = json.loads(log)
    status = found["status"]
    assert not {"0"} & {*status["Uid"], *status["Gid"], *status["Groups"]}
    for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[capabilities][0], 16) == 0
    assert status["NoNewPrivs"] == ["1"]
    assert status["Seccomp"] == ["2"]  # a filter: RuntimeDefault
    assert set(found["write"].values()) <= {"Read-only file system", "No such file or directory"}
    assert found["services"] == []


def test_the_restricted_level_is_enforced_around_it(cluster: Cluster) -> None:
    here = f"--namespace={INSTALLED_IN}"
    refused = cluster.kubectl("run", "any", here, "--image=busybox", "--dry-run=server", check=False)
    assert refused.code != 0
    assert 'violates PodSecurity "restricted' in refused.stderr
