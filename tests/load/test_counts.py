"""How many requests a pass sends at each size of a fleet, exactly: the formula of docs/architecture.md."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from benchmarks.generated.recorded import SIZE
from benchmarks.maximal import run, served
from takara_sync.kube.cluster import PAGE
from takara_sync.look import READS_MAX
from tests.support.takaras import takara
from tests.tool import Called
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.control_plane.server import ControlPlane
    from tests.tool import Pass

SIZES = (0, 1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE)
LONG = (*SIZES, 6 * PAGE)
DRIFTED = 3


def pages(items: int) -> int:
    """How many requests a list of so many items takes."""
    return max(1, -(-items // PAGE))


def lists(takaras: int, pods: int) -> dict[str, int]:
    """The reads of a settled pass."""
    return {"list deployments": pages(takaras), "list takaras": pages(takaras), "list pods": pages(pods)}


def counts(done: Pass) -> Counter[str]:
    """The requests by verb and resource, without the few that look for what keeps pods away."""
    looks = [one for one in done.requests if "takara_cr" in one.uri]
    assert len(looks) <= READS_MAX
    others = (one for one in done.requests if one not in looks)
    return Counter(f"{one.verb} {one.resource}{one.subresource and '/'}{one.subresource}" for one in others)


@pytest.mark.timeout(400)
def test_the_requests_of_a_pass_on_a_real_server_at_each_size(
    fresh_control_plane: Callable[..., ControlPlane], long: bool, count: Callable[[str, int], None]
) -> None:
    """One fleet that grows. There are no controllers; each Takara has one pod, made by hand, that is not its own."""
    server = fresh_control_plane(controller_manager=False)
    world, tool = World(server, server.namespace()), Called(server)
    before = 0
    for size in LONG if long else SIZES:
        grow(world, range(before, size))
        new = dict.fromkeys(("patch deployments", "patch takaras/status", "create events"), size - before)
        first = tool.converge("--pass-timeout=300")
        read = {"list deployments": pages(before), "list takaras": pages(size), "list pods": pages(size)}
        assert counts(first) == Counter(read) + Counter(new)
        settled = tool.converge()
        assert counts(settled) == lists(size, size)
        count("requests of passes counted on a real server", len(first.requests) + len(settled.requests))
        before = size
    for number in range(DRIFTED):
        world.merge_deployment(f"takara-{number:05}", {"spec": {"replicas": 7}})
    drifted = tool.converge()
    writes = Counter(dict.fromkeys(("patch deployments", "patch takaras/status", "create events"), DRIFTED))
    assert counts(drifted) == Counter(lists(before, before)) + writes
    assert {request.name for request in drifted.writes} == {f"takara-{number:05}" for number in range(DRIFTED)}


def grow(world: World, numbers: range) -> None:
    """Create these Takaras, and a pod with the labels of each."""
    names = [f"takara-{number:05}" for number in numbers]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda name: world.create(takara(name, 3)), names))
        list(pool.map(lambda name: add_pod(world, name), names))


def add_pod(world: World, name: str) -> None:
    metadata = {"name": f"{name}-pod", "labels": {"app": "takara", "takara_cr": name}}
    spec = {"containers": [{"name": "takara", "image": "busybox"}]}
    world.call("POST", f"/api/v1/namespaces/{world.namespace}/pods", {"metadata": metadata, "spec": spec})


def test_the_requests_of_a_settled_pass_over_ten_thousand_takaras_in_five_thousand_namespaces(tmp_path: Path) -> None:
    with served(("--takaras=10000", "--namespaces=5000")) as port:
        assert run(port, tmp_path).requests == lists(10_000, 10_000 * SIZE)
