"""What is measured of a contestant on a fresh cluster, and in which order."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks import measures
from benchmarks.cluster import Cluster
from benchmarks.contestants import FLOOR, INTERVAL, TAKARA_SYNC, Contestant, floor, looping
from benchmarks.measures import Measured
from benchmarks.process import Resident, run
from benchmarks.wire import Meter
from tests.control_plane.waiting import wait_until

ROLLOUT_INTERVAL = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class Effort:
    """runs: how often a measure is repeated. patience: no new run after so many seconds. rest: seconds at rest."""

    runs: int
    patience: float
    rest: float

    def repeated(self, most: int | None = None) -> Iterator[int]:
        """The numbers of the runs, at least one."""
        began = time.monotonic()
        for number in range(self.runs if most is None else max(1, min(most, self.runs))):
            if number and time.monotonic() - began > self.patience:
                return
            yield number


def measure(cluster: Cluster, contestant: Contestant, effort: Effort, *, whole: bool) -> Iterator[Measured]:
    """All measures of a contestant on a cluster in which nothing was done yet; only the cold one unless `whole`."""
    if not cluster.count:
        yield from _starts(cluster, contestant, effort)
    elif contestant.name == FLOOR:
        yield measures.cold_once(cluster, contestant)
    elif contestant.name == TAKARA_SYNC:
        yield from _takara_sync(cluster, contestant, effort, whole=whole)
    else:
        yield from _operator(cluster, contestant, effort, whole=whole)


def _starts(cluster: Cluster, contestant: Contestant, effort: Effort) -> Iterator[Measured]:
    """Starts on an empty cluster."""
    for _ in effort.repeated():
        if contestant.resident:
            yield measures.restart(cluster, contestant, "start")
        for name, command in _start_commands(contestant).items():
            yield measures.once(cluster, name, contestant.name, command)


def _start_commands(contestant: Contestant) -> dict[str, tuple[str, ...]]:
    """The floor is the import of the two largest dependencies of takara-sync."""
    if contestant.name == FLOOR:
        return {"start": (sys.executable, "-c", "import kubernetes, pydantic_settings")}
    if contestant.name == TAKARA_SYNC:
        return {"start": contestant.once} | {option: (contestant.once[0], option) for option in ("--version", "--help")}
    return {}


def _takara_sync(cluster: Cluster, contestant: Contestant, effort: Effort, *, whole: bool) -> Iterator[Measured]:
    cold = measures.cold_once(cluster, contestant)
    yield cold
    if not whole:
        return
    user = cluster.user()
    with Resident(looping(ROLLOUT_INTERVAL), user.kubeconfig) as process:
        yield measures.rollout(cluster, contestant, process, user, cold)
    measures.until_nothing_to_write(cluster, contestant)
    for _ in effort.repeated():
        yield measures.once(cluster, "settled", FLOOR, floor("lists"))
        yield measures.once(cluster, "settled", TAKARA_SYNC, contestant.once)
    with Meter(cluster.url) as meter:
        run(contestant.once, meter.kubeconfig(cluster.user()))
        yield Measured(TAKARA_SYNC, "bytes", {"received_bytes": meter.received})
    for number in effort.repeated(cluster.count // 2):
        cluster.scale(number, 0)
        yield measures.once(cluster, "drifted", TAKARA_SYNC, contestant.once)
        cluster.observe(number)
        measures.until_nothing_to_write(cluster, contestant)
    yield measures.nobody(cluster, effort.rest / 4)
    yield from _resident(cluster, contestant, effort)


def _operator(cluster: Cluster, contestant: Contestant, effort: Effort, *, whole: bool) -> Iterator[Measured]:
    user = cluster.user()
    api_before = cluster.api_cpu_s
    with Resident(contestant.stays, user.kubeconfig) as process:
        wait_until(lambda: measures.unwritten(cluster, user, process), within=measures.limit(cluster), every=1.0)
        used = {"cpu_s": process.cpu_s, "peak_mib": process.peak_mib, "api_cpu_s": cluster.api_cpu_s - api_before}
        cold = measures.cold(cluster, contestant, user, process.began, used)
        yield cold
        if whole:
            yield measures.rollout(cluster, contestant, process, user)
    if whole:
        for _ in effort.repeated():
            yield measures.restart(cluster, contestant, "settled")
        yield from _resident(cluster, contestant, effort)


def _resident(cluster: Cluster, contestant: Contestant, effort: Effort) -> Iterator[Measured]:
    """What takes a process that stays: rest, and the reaction to changes."""
    user = cluster.user()
    with Meter(cluster.url) as meter, Resident(contestant.stays, meter.kubeconfig(user)) as process:
        process.busy_s(measures.limit(cluster))
        if contestant.resident:
            yield Measured(contestant.name, "bytes", {"received_bytes": meter.received})
        yield measures.rest(cluster, contestant, effort.rest, process, user, meter)
        half = cluster.count // 2
        for number in effort.repeated(half):
            if contestant.resident:
                yield measures.reaction(cluster, contestant, "drifted", number, user)
            else:
                time.sleep(random.uniform(0, INTERVAL))  # noqa: S311 - an edit meets the loop at any moment
            yield measures.reaction(cluster, contestant, "edited", half + number, user)
