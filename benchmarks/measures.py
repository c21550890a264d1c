"""What is measured of a contestant on a fresh cluster: each measure gives numbers by name.

Times end with _s (seconds), memory with _mib, rates with _per_h. `began` is when the process was started, so every time
contains the start of the contestant.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.cluster import SIZE, Cluster, by_verb, first_writes, seconds
from benchmarks.contestants import FLOOR, INTERVAL, TAKARA_SYNC, Contestant, floor, looping
from benchmarks.process import Resident, run
from benchmarks.wire import Meter
from tests.control_plane.waiting import wait_until
from tests.server import Request, User

ROLLOUT_INTERVAL = 5.0  # seconds
_MAX_TRIES = 5
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Measured:
    """The numbers of one run of one measure. requests: by verb and resource."""

    contestant: str
    measure: str
    values: dict[str, float]
    requests: dict[str, int] = field(default_factory=dict)


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
        yield _cold_once(cluster, contestant)
    elif contestant.name == TAKARA_SYNC:
        yield from _takara_sync(cluster, contestant, effort, whole=whole)
    else:
        yield from _operator(cluster, contestant, effort, whole=whole)


# ------------------------------------------------------------------ the order of the measures


def _starts(cluster: Cluster, contestant: Contestant, effort: Effort) -> Iterator[Measured]:
    """Starts on an empty cluster."""
    for _ in effort.repeated():
        if contestant.resident:
            yield _restart(cluster, contestant, "start")
        for name, command in _start_commands(contestant).items():
            yield _once(cluster, name, contestant.name, command)


def _start_commands(contestant: Contestant) -> dict[str, tuple[str, ...]]:
    """The floor is the import of the two largest dependencies of takara-sync."""
    if contestant.name == FLOOR:
        return {"start": (sys.executable, "-c", "import kubernetes, pydantic_settings")}
    if contestant.name == TAKARA_SYNC:
        return {"start": contestant.once} | {option: (contestant.once[0], option) for option in ("--version", "--help")}
    return {}


def _takara_sync(cluster: Cluster, contestant: Contestant, effort: Effort, *, whole: bool) -> Iterator[Measured]:
    cold = _cold_once(cluster, contestant)
    yield cold
    if not whole:
        return
    user = cluster.user()
    with Resident(looping(ROLLOUT_INTERVAL), user.kubeconfig) as process:
        yield _rollout(cluster, contestant, process, user, cold)
    _until_nothing_to_write(cluster, contestant)
    for _ in effort.repeated():
        yield _once(cluster, "settled", FLOOR, floor("lists"))
        yield _once(cluster, "settled", TAKARA_SYNC, contestant.once)
    with Meter(cluster.url) as meter:
        run(contestant.once, meter.kubeconfig(cluster.user()))
        yield Measured(TAKARA_SYNC, "bytes", {"received_bytes": meter.received})
    for number in effort.repeated(cluster.count // 2):
        cluster.scale(number, 0)
        yield _once(cluster, "drifted", TAKARA_SYNC, contestant.once)
        cluster.observe(number)
        _until_nothing_to_write(cluster, contestant)
    yield _nobody(cluster, effort.rest / 4)
    yield from _resident(cluster, contestant, effort)


def _operator(cluster: Cluster, contestant: Contestant, effort: Effort, *, whole: bool) -> Iterator[Measured]:
    user = cluster.user()
    api_before = cluster.api_cpu_s
    with Resident(contestant.stays, user.kubeconfig) as process:
        wait_until(lambda: _unwritten(cluster, user, process), within=_limit(cluster), every=1.0)
        used = {"cpu_s": process.cpu_s, "peak_mib": process.peak_mib, "api_cpu_s": cluster.api_cpu_s - api_before}
        cold = _cold(cluster, contestant, user, process.began, used)
        yield cold
        if whole:
            yield _rollout(cluster, contestant, process, user)
    if whole:
        for _ in effort.repeated():
            yield _restart(cluster, contestant, "settled")
        yield from _resident(cluster, contestant, effort)


def _resident(cluster: Cluster, contestant: Contestant, effort: Effort) -> Iterator[Measured]:
    """What takes a process that stays: rest, and the reaction to changes."""
    user = cluster.user()
    with Meter(cluster.url) as meter, Resident(contestant.stays, meter.kubeconfig(user)) as process:
        process.busy_s(_limit(cluster))
        if contestant.resident:
            yield Measured(contestant.name, "bytes", {"received_bytes": meter.received})
        yield _rest(cluster, contestant, effort.rest, process, user, meter)
        half = cluster.count // 2
        for number in effort.repeated(half):
            if contestant.resident:
                yield _reaction(cluster, contestant, "drifted", number, user)
            else:
                time.sleep(random.uniform(0, INTERVAL))  # noqa: S311 - an edit meets the loop at any moment
            yield _reaction(cluster, contestant, "edited", half + number, user)


# ------------------------------------------------------------------ the measures


def _once(cluster: Cluster, measure: str, name: str, command: tuple[str, ...]) -> Measured:
    """A command from its start to its end."""
    user = cluster.user()
    api_before = cluster.api_cpu_s
    ended = run(command, user.kubeconfig)
    values = {"wall_s": ended.wall_s, "cpu_s": ended.cpu_s, "peak_mib": ended.peak_mib}
    if name == FLOOR and measure == "settled":
        values["requests_s"] = json.loads(ended.output)["seconds"]
    sent = cluster.requests(user)
    return Measured(name, measure, values | {"api_cpu_s": cluster.api_cpu_s - api_before}, by_verb(sent))


def _cold_once(cluster: Cluster, contestant: Contestant) -> Measured:
    user = cluster.user()
    api_before = cluster.api_cpu_s
    ended = run(contestant.once, user.kubeconfig)
    used = {"wall_s": ended.wall_s, "cpu_s": ended.cpu_s, "peak_mib": ended.peak_mib}
    return _cold(cluster, contestant, user, ended.began, used | {"api_cpu_s": cluster.api_cpu_s - api_before})


def _cold(cluster: Cluster, contestant: Contestant, user: User, began: float, used: dict[str, float]) -> Measured:
    """Checks that everything is there. deployments_s, statuses_s: until the last first write was answered."""
    sent = cluster.requests(user)
    sizes = [one["spec"]["replicas"] for one in cluster.deployments()]
    if sizes != [SIZE] * cluster.count:
        raise AssertionError(f"{contestant.name}: {len(sizes)} of {cluster.count} Deployments, sizes {set(sizes)}")
    written = first_writes(sent, "deployments").values()
    values = used | {
        "deployments_s": max(written) - began,
        "writing_s": max(written) - min(seconds(one.received) for one in sent if one.writes),
        "cpu_ms_per_request": 1000 * used["cpu_s"] / len(sent),
    }
    if contestant.name != FLOOR:
        values["statuses_s"] = max(first_writes(sent, "takaras", "status").values()) - began
    return Measured(contestant.name, "cold", values, by_verb(sent))


def _rollout(
    cluster: Cluster, contestant: Contestant, process: Resident, user: User, before: Measured | None = None
) -> Measured:
    """The pods come up; until every status says so. requests: all since the start, and those of `before`."""
    cpu_before, api_before, began = process.cpu_s, cluster.api_cpu_s, time.monotonic()
    cluster.bring_up()
    brought_up = time.monotonic() - began
    wait_until(lambda: _unready(cluster, process), within=_limit(cluster), every=1.0)
    values = {
        "pods_s": brought_up,
        "wall_s": time.monotonic() - began,
        "cpu_s": process.cpu_s - cpu_before,
        "api_cpu_s": cluster.api_cpu_s - api_before,
        "takara_bytes": len(json.dumps(cluster.takaras()[0], separators=(",", ":"))),
    }
    requests = by_verb(cluster.requests(user))
    for kind, count in (before.requests if before else {}).items():
        requests[kind] = requests.get(kind, 0) + count
    return Measured(contestant.name, "rollout", values, requests)


def _restart(cluster: Cluster, contestant: Contestant, measure: str) -> Measured:
    """An operator from its start until it has nothing left to do."""
    user = cluster.user()
    api_before = cluster.api_cpu_s
    with Resident(contestant.stays, user.kubeconfig) as process:
        values = {"wall_s": process.busy_s(_limit(cluster))}
        values |= {"cpu_s": process.cpu_s, "peak_mib": process.peak_mib, "api_cpu_s": cluster.api_cpu_s - api_before}
    return Measured(contestant.name, measure, values, by_verb(cluster.requests(user)))


def _rest(
    cluster: Cluster, contestant: Contestant, duration: float, process: Resident, user: User, meter: Meter
) -> Measured:
    sent, received = len(cluster.requests(user)), meter.received
    cpu, api_cpu, began = process.cpu_s, cluster.api_cpu_s, time.monotonic()
    time.sleep(duration)
    hours = (time.monotonic() - began) / _HOUR
    values = {
        "cpu_s_per_h": (process.cpu_s - cpu) / hours,
        "api_cpu_s_per_h": (cluster.api_cpu_s - api_cpu) / hours,
        "requests_per_h": (len(cluster.requests(user)) - sent) / hours,
        "received_mib_per_h": (meter.received - received) / hours / 2**20,
        "resident_mib": process.resident_mib,
        "peak_mib": process.peak_mib,
    }
    return Measured(contestant.name, "rest", values)


def _nobody(cluster: Cluster, duration: float) -> Measured:
    """The API server with no contestant at all."""
    before, began = cluster.api_cpu_s, time.monotonic()
    time.sleep(duration)
    used = cluster.api_cpu_s - before
    return Measured(FLOOR, "rest", {"api_cpu_s_per_h": used * _HOUR / (time.monotonic() - began)})


def _reaction(cluster: Cluster, contestant: Contestant, what: str, index: int, user: User) -> Measured:
    """The seconds from the change of a user to the answer to the contestant's write."""
    known = len(cluster.requests(user))
    began = time.time()
    if what == "drifted":
        cluster.scale(index, 0)
    else:
        cluster.resize(index, SIZE + 1)

    def written() -> list[Request]:
        return [one for one in cluster.requests(user)[known:] if one.writes and one.resource == "deployments"]

    wait_until(lambda: "" if written() else f"no write after {what}", within=INTERVAL + _limit(cluster), every=0.02)
    cluster.observe(index)
    return Measured(contestant.name, what, {"reaction_s": seconds(written()[0].answered) - began})


# ------------------------------------------------------------------ whether it is done


def _limit(cluster: Cluster) -> float:
    """The seconds after which a contestant has failed."""
    return 60 + 0.3 * cluster.count


def _unwritten(cluster: Cluster, user: User, process: Resident) -> str:
    process.check()
    sent = cluster.requests(user)
    counts = len(first_writes(sent, "deployments")), len(first_writes(sent, "takaras", "status"))
    return "" if min(counts) >= cluster.count else f"{counts} of {cluster.count} Deployments and statuses written"


def _unready(cluster: Cluster, process: Resident) -> str:
    process.check()
    unready = [one["metadata"]["name"] for one in cluster.takaras() if not _is_ready(one)]
    return f"{len(unready)} statuses are not right, {unready[:3]}" if unready else ""


def _is_ready(takara: dict[str, object]) -> bool:
    metadata, status = takara["metadata"], takara.get("status", {})
    assert isinstance(metadata, dict)
    assert isinstance(status, dict)
    conditions = {one["type"]: one["status"] for one in status.get("conditions", [])}
    seen = status.get("observedGeneration") == metadata["generation"]
    counts = len(status.get("nodes") or []), status.get("readyReplicas")
    return seen and counts == (SIZE, SIZE) and conditions.get("Ready") == "True"


def _until_nothing_to_write(cluster: Cluster, contestant: Contestant) -> None:
    for _ in range(_MAX_TRIES):
        user = cluster.user()
        run(contestant.once, user.kubeconfig)
        if not any(one.writes for one in cluster.requests(user)):
            return
    raise AssertionError(f"{contestant.name} still writes after {_MAX_TRIES} passes")
