"""What the shipped pod may do, told by itself: the image's Python in place of takara-sync, all else as it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.node.cluster import INSTALLED_IN, NEVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.node.cluster import Cluster

pytestmark = pytest.mark.node

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


@pytest.fixture(scope="module")
def told(cluster: Cluster) -> Iterator[dict[str, Any]]:
    with cluster.installed("--mode=once", NEVER):
        job = cluster.job_from_cronjob({"command": ["python3", "-c", PROBE], "args": []})
        verdict, _, log = cluster.result_of(job)
        assert verdict == "Complete", log
        yield json.loads(log)


def test_it_is_nobody_without_a_right(told: dict[str, Any]) -> None:
    status = told["status"]
    assert "0" not in status["Uid"]
    assert "0" not in status["Gid"]
    assert "0" not in status["Groups"]
    for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[capabilities][0], 16) == 0
    assert status["NoNewPrivs"] == ["1"]
    assert status["Seccomp"] == ["2"]  # a filter: RuntimeDefault


def test_it_can_write_nowhere(told: dict[str, Any]) -> None:
    assert set(told["write"].values()) <= {"Read-only file system", "No such file or directory"}


def test_no_service_is_in_its_environment(told: dict[str, Any]) -> None:
    assert told["services"] == []


@pytest.mark.usefixtures("told")
def test_the_restricted_level_is_enforced_around_it(cluster: Cluster) -> None:
    here = f"--namespace={INSTALLED_IN}"
    refused = cluster.kubectl("run", "any", here, "--image=busybox", "--dry-run=server", check=False)
    assert refused.code != 0
    assert 'violates PodSecurity "restricted' in refused.stderr
