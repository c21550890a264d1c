"""What another user feels while many Takaras are new: `python -m benchmarks.few_seats --takaras 5000`.

For each load a fresh control plane with few seats (API Priority and Fairness), on which N Takaras were just created.
While the load runs, another user sends one GET after the other; the table has the time of these GETs. The loads are
nothing, another user who applies the same Deployments with 16 threads, and a pass of takara-sync, without and with
k8s/components/priority.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from takara_sync.desired import deployment_for, with_identity
from takara_sync.kube.api import APPLY, Api, Deadline, Request
from takara_sync.objects import Takara
from tests.control_plane.build import assets
from tests.control_plane.server import ControlPlane
from tests.load.test_few_seats import FEW_SEATS, create, installed, shipped
from tests.manifests.install import apply, identity, objects, tenant, until, without_workload
from tests.server import User
from tests.tool import Tool

_THREADS = 16
_IDLE_SECONDS = 10.0
_APIS = "/apis/apps/v1/namespaces/default/deployments"
_WATCHED = "/api/v1/namespaces/default/configmaps/watched"


class _Items(msgspec.Struct):
    items: list[Takara]


def _idle(server: ControlPlane, user: User) -> None:  # noqa: ARG001 - the signature of a load
    time.sleep(_IDLE_SECONDS)


def _applied(server: ControlPlane, user: User) -> None:
    """The same Deployments by 16 threads of another process, so that they do not slow the GETs in this one."""
    listed = server.call("GET", "/apis/maho.takara.org/v1alpha1/takaras").body
    takaras = msgspec.json.decode(msgspec.json.encode(listed), type=_Items).items
    manifests = [with_identity(deployment_for(takara), takara, None) for takara in takaras]
    process = multiprocessing.get_context("spawn").Process(target=_apply, args=(user.kubeconfig, manifests))
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"the applies ended with {process.exitcode}")


def _apply(kubeconfig: Path, manifests: list[dict[str, dict[str, str]]]) -> None:
    api = Api.connect(str(kubeconfig), connections=_THREADS)
    query = (("fieldManager", "applier"), ("force", "true"))

    def one(manifest: dict[str, dict[str, str]]) -> None:
        path = f"{_APIS}/{manifest['metadata']['name']}"
        api.send(Request("PATCH", path, query, manifest, APPLY), Deadline(60))

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(one, manifests))


def _synced(server: ControlPlane, user: User) -> None:
    """A pass as a process."""
    tool = Tool(server)
    tool.user = user
    with tool.started("once", "--pass-timeout=600", "--log-level=error") as process:
        _, stderr = process.communicate()
    if process.returncode:
        raise RuntimeError(f"takara-sync ended with {process.returncode}: {stderr}")


def _applier(server: ControlPlane) -> User:
    user = tenant(server, "default", rules={"apps/deployments": ["get", "list", "create", "patch"]})
    until(server, user, f"{_APIS}?limit=1")
    return user


def _without_level(server: ControlPlane) -> User:
    apply(server, without_workload(objects()))
    return identity(server)


LOADS: dict[str, tuple[Callable[[ControlPlane], User], Callable[[ControlPlane, User], None]]] = {
    "nothing": (_applier, _idle),
    "16 threads applying": (_applier, _applied),
    "a pass": (_without_level, _synced),
    "a pass, components/priority": (lambda server: installed(server, shipped()).user, _synced),
}


def measured(name: str, takaras: int) -> dict[str, float]:
    """The times of the other user's GETs during this load, in milliseconds, and of the load, in seconds."""
    found = assets()
    if found is None:
        sys.exit("there is no control plane: run python -m tests.control_plane")
    prepared, load = LOADS[name]
    with ControlPlane(found, controller_manager=False, api_server_flags=FEW_SEATS) as server:
        server.wait_for_roles()
        user, other = prepared(server), tenant(server, "default", rules={"/configmaps": ["get"]})
        server.call("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "watched"}})
        until(server, other, _WATCHED)
        create(server, takaras)
        times: list[float] = []
        over = threading.Event()
        watcher = threading.Thread(target=_watch, args=(server, other, times, over))
        watcher.start()
        started = time.perf_counter()
        load(server, user)
        seconds = time.perf_counter() - started
        over.set()
        watcher.join()
        rejected = sum(request.code == 429 for who in (user, other) for request in server.requests(who))  # noqa: PLR2004
    cuts = statistics.quantiles(times, n=100)
    return {"seconds": seconds, "p50": cuts[49], "p99": cuts[98], "max": max(times), "rejected": rejected}


def _watch(server: ControlPlane, user: User, times: list[float], over: threading.Event) -> None:
    while not over.wait(0.005):
        started = time.perf_counter()
        answer = server.call("GET", _WATCHED, user=user)
        times.append((time.perf_counter() - started) * 1000)
        assert answer.status == 200, answer.body  # noqa: PLR2004


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each load; 1 if a pass with the component hurts the other user more than the applies do."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.few_seats", description=(__doc__ or "").partition(":")[0]
    )
    parser.add_argument("--takaras", type=int, default=5000, metavar="N", help="default: %(default)s")
    takaras = parser.parse_args(argv).takaras
    sys.stdout.write(f"{'load':<28} {'load s':>8} {'GET p50 ms':>11} {'p99 ms':>8} {'max ms':>8} {'429':>5}\n")
    p99 = {}
    for name in LOADS:
        found = measured(name, takaras)
        p99[name] = found["p99"]
        figures = (found[each] for each in ("seconds", "p50", "p99", "max", "rejected"))
        sys.stdout.write("{:<28} {:8.1f} {:11.1f} {:8.1f} {:8.1f} {:5.0f}\n".format(name, *figures))
        sys.stdout.flush()
    return int(p99["a pass, components/priority"] > p99["16 threads applying"])


if __name__ == "__main__":
    sys.exit(main())
