"""The shipped CronJob, left to the minute tick, and the two samples of the Go operator."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.control_plane.waiting import wait_until
from tests.node.cluster import INSTALLED_IN, Cluster, condition

pytestmark = [pytest.mark.node, pytest.mark.timeout(300)]

SAMPLES = Path(__file__).parents[2] / "k8s" / "examples" / "takaras.yaml"
PROMISED_SECONDS = 120.0


class Samples:
    """The two samples in a namespace of their own, and the moment until which they are promised."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._in = f"--namespace={namespace}"
        self._end = time.monotonic() + PROMISED_SECONDS
        cluster.kubectl("apply", self._in, f"--filename={SAMPLES}")

    @property
    def seconds_left(self) -> float:
        return self._end - time.monotonic()

    def takaras(self) -> dict[str, dict[str, Any]]:
        return {one["metadata"]["name"]: one for one in self._cluster.items("takaras", self._in)}

    def running(self, name: str) -> list[str]:
        pods = self._cluster.items("pods", self._in, f"--selector=takara_cr={name}")
        alive = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        return sorted(pod["metadata"]["name"] for pod in alive if pod["status"]["phase"] == "Running")

    def unready(self) -> str:
        """Those whose pods do not all run, or whose status does not say so."""
        return "; ".join(f"{name}: {one}" for name, one in self.takaras().items() if not self._is_ready(name, one))

    def _is_ready(self, name: str, one: dict[str, Any]) -> bool:
        pods = self.running(name)
        told = one["status"].get("nodes") == pods and condition(one, "Ready").get("status") == "True"
        return told and len(pods) == one["spec"]["size"]

    def table(self) -> list[list[str]]:
        return [line.split() for line in self._cluster.kubectl("get", "tk", self._in).stdout.splitlines()]

    def scale(self, name: str, replicas: int) -> None:
        self._cluster.kubectl("scale", f"tk/{name}", self._in, f"--replicas={replicas}")

    def replicas(self, name: str) -> int:
        return int(self._cluster.get("deployment", name, self._in)["spec"]["replicas"])


@pytest.fixture(scope="module")
def samples(cluster: Cluster) -> Iterator[Samples]:
    with cluster.installed(), cluster.namespace() as namespace:
        made = Samples(cluster, namespace)
        wait_until(made.unready, within=made.seconds_left, every=0.5)
        yield made


def test_the_job_of_a_minute_tick_completes(cluster: Cluster, samples: Samples) -> None:
    complete: list[dict[str, Any]] = []

    def missing() -> str:
        jobs = cluster.items("jobs", f"--namespace={INSTALLED_IN}")
        complete[:] = [job for job in jobs if condition(job, "Complete").get("status") == "True"]
        return "" if complete else f"no Job is Complete: {[job['status'] for job in jobs]}"

    # The fixture may have been kept waiting for the tick; an earlier test has used up some of the time, not of ours.
    wait_until(missing, within=max(samples.seconds_left, 1.0), every=0.5)
    assert [owner["kind"] for owner in complete[0]["metadata"]["ownerReferences"]] == ["CronJob"]


def test_the_samples_run_and_are_told_ready(samples: Samples) -> None:
    wait_until(samples.unready, within=15.0, every=0.5)
    sizes = {name: one["spec"]["size"] for name, one in samples.takaras().items()}
    assert {name: len(samples.running(name)) for name in sizes} == sizes
    head, *rows = samples.table()
    assert head == ["NAME", "SIZE", "REPLICAS", "READY", "STATUS", "AGE"]
    assert [row[:5] for row in rows] == [
        [name, str(size), str(size), str(size), "Ready"] for name, size in sorted(sizes.items())
    ]


def test_a_new_size_is_followed_within_15_seconds(samples: Samples) -> None:
    samples.scale("example-takara", 5)
    wait_until(lambda: "" if samples.replicas("example-takara") == 5 else "not 5 yet", within=15.0, every=0.2)
    wait_until(samples.unready, within=30.0, every=0.5)  # its pods, and the pass that finds them ready
