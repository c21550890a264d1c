"""The measures: each gives numbers by name.

Times end with _s (seconds), memory with _mib, rates with _per_h. `began` is when the process was started, so every time
contains the start of the contestant.
"""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass, field

from benchmarks.cluster import SIZE, Cluster, by_verb, first_writes, seconds
from benchmarks.contestants import FLOOR, INTERVAL, Contestant
from benchmarks.process import Resident, run
from benchmarks.wire import Meter
from tests.control_plane.waiting import wait_until
from tests.server import Request, User

_MAX_TRIES = 5
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Measured:
    """The numbers of one run of one measure. requests: by verb and resource."""

    contestant: str
    measure: str
    values: dict[str, float]
    requests: dict[str, int] = field(default_factory=dict)


def once(cluster: Cluster, measure: str, name: str, command: tuple[str, ...]) -> Measured:
    """A command from its start to its end."""
    user = cluster.user()
    api_before = cluster.api_cpu_s
    ended = run(command, user.kubeconfig)
    values = {"wall_s": ended.wall_s, "cpu_s": ended.cpu_s, "peak_mib": ended.peak_mib}
    if name == FLOOR and measure == "settled":
        values["requests_s"] = json.loads(ended.output)["seconds"]
    sent = cluster.requests(user)
    return Measured(name, measure, values | {"api_cpu_s": cluster.api_cpu_s - api_before}, by_verb(sent))


def cold_once(cluster: Cluster, contestant: Contestant) -> Measured:
    user = cluster.user()
    api_before = cluster.api_cpu_s
    ended = run(contestant.once, user.kubeconfig)
    used = {"wall_s": ended.wall_s, "cpu_s": ended.cpu_s, "peak_mib": ended.peak_mib}
    return cold(cluster, contestant, user, ended.began, used | {"api_cpu_s": cluster.api_cpu_s - api_before})


def cold(cluster: Cluster, contestant: Contestant, user: User, began: float, used: dict[str, float]) -> Measured:
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


def rollout(
    cluster: Cluster, contestant: Contestant, process: Resident, user: User, before: Measured | None = None
) -> Measured:
    """The pods come up; until every status says so. requests: all since the start, and those of `before`."""
    cpu_before, api_before, began = process.cpu_s, cluster.api_cpu_s, time.monotonic()
    cluster.bring_up()
    brought_up = time.monotonic() - began
    with contextlib.suppress(TimeoutError):
        wait_until(lambda: str(_unready(cluster, process) or ""), within=limit(cluster), every=1.0)
    values = {
        "never_right": len(_unready(cluster, process)),
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


def restart(cluster: Cluster, contestant: Contestant, measure: str) -> Measured:
    """An operator from its start until it has nothing left to do."""
    user = cluster.user()
    api_before = cluster.api_cpu_s
    with Resident(contestant.stays, user.kubeconfig) as process:
        values = {"wall_s": process.busy_s(limit(cluster))}
        values |= {"cpu_s": process.cpu_s, "peak_mib": process.peak_mib, "api_cpu_s": cluster.api_cpu_s - api_before}
    return Measured(contestant.name, measure, values, by_verb(cluster.requests(user)))


def rest(
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


def nobody(cluster: Cluster, duration: float) -> Measured:
    """The API server with no contestant at all."""
    before, began = cluster.api_cpu_s, time.monotonic()
    time.sleep(duration)
    used = cluster.api_cpu_s - before
    return Measured(FLOOR, "rest", {"api_cpu_s_per_h": used * _HOUR / (time.monotonic() - began)})


def reaction(cluster: Cluster, contestant: Contestant, what: str, index: int, user: User) -> Measured:
    """The seconds from the change of a user to the answer to the contestant's write."""
    known = len(cluster.requests(user))
    began = time.time()
    if what == "drifted":
        cluster.scale(index, 0)
    else:
        cluster.resize(index, SIZE + 1)

    def written() -> list[Request]:
        return [one for one in cluster.requests(user)[known:] if one.writes and one.resource == "deployments"]

    wait_until(lambda: "" if written() else f"no write after {what}", within=INTERVAL + limit(cluster), every=0.02)
    cluster.observe(index)
    return Measured(contestant.name, what, {"reaction_s": seconds(written()[0].answered) - began})


# ------------------------------------------------------------------ whether it is done


def limit(cluster: Cluster) -> float:
    """The seconds after which a contestant has failed."""
    return 60 + 0.1 * cluster.count


def unwritten(cluster: Cluster, user: User, process: Resident) -> str:
    process.check()
    sent = cluster.requests(user)
    counts = len(first_writes(sent, "deployments")), len(first_writes(sent, "takaras", "status"))
    return "" if min(counts) >= cluster.count else f"{counts} of {cluster.count} Deployments and statuses written"


def _unready(cluster: Cluster, process: Resident) -> list[str]:
    process.check()
    return [one["metadata"]["name"] for one in cluster.takaras() if not _is_ready(one)]


def _is_ready(takara: dict[str, object]) -> bool:
    metadata, status = takara["metadata"], takara.get("status", {})
    assert isinstance(metadata, dict)
    assert isinstance(status, dict)
    conditions = {one["type"]: one["status"] for one in status.get("conditions", [])}
    seen = status.get("observedGeneration") == metadata["generation"]
    counts = len(status.get("nodes") or []), status.get("readyReplicas")
    return seen and counts == (SIZE, SIZE) and conditions.get("Ready") == "True"


def until_nothing_to_write(cluster: Cluster, contestant: Contestant) -> None:
    for _ in range(_MAX_TRIES):
        user = cluster.user()
        run(contestant.once, user.kubeconfig)
        if not any(one.writes for one in cluster.requests(user)):
            return
    raise AssertionError(f"{contestant.name} still writes after {_MAX_TRIES} passes")
