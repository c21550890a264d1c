"""Many Takaras created at once, on an API server with few seats and the priority level of k8s/components/priority.

https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from takara_sync.reconcile import TRIES
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.load.test_counts import counts, pages
from tests.manifests.install import ROOT, Installed, apply, objects, without_workload
from tests.support.takaras import takara
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.control_plane.server import ControlPlane

FEW_SEATS = ("--max-requests-inflight=10", "--max-mutating-requests-inflight=10")
LEVEL = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/takara-sync"
SCHEMA = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/takara-sync"
TAKARAS = "/apis/maho.takara.org/v1alpha1/takaras?limit=1"


def installed(server: ControlPlane, component: list[dict[str, Any]]) -> Installed:
    """takara-sync with its priority level, which is in force."""
    apply(server, [*without_workload(objects()), *component])
    tool = Installed(server, "takara-system")
    uid = server.call("GET", SCHEMA).body["metadata"]["uid"]

    def elsewhere() -> str:
        found = server.call("GET", TAKARAS, user=tool.user).headers
        return "" if found.get("X-Kubernetes-Pf-Flowschema-Uid") == uid else "another FlowSchema matches takara-sync"

    wait_until(elsewhere, within=SETTLE_SECONDS, every=0.1)
    return tool


def shipped() -> list[dict[str, Any]]:
    """The level and the FlowSchema of the component."""
    return list(yaml.safe_load_all((ROOT / "k8s/components/priority/priority.yaml").read_text()))


def create(server: ControlPlane, takaras: int) -> None:
    world = World(server, "default")
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: world.create(takara(f"takara-{number:05}", 3)), range(takaras)))


@pytest.mark.timeout(900)
def test_thousands_of_new_takaras_cost_an_apply_and_a_status_write_each_and_no_request_is_rejected(
    fresh_control_plane: Callable[..., ControlPlane], long: bool, count: Callable[[str, int], None]
) -> None:
    server, takaras = fresh_control_plane(controller_manager=False, api_server_flags=FEW_SEATS), 5000 if long else 300
    tool = installed(server, shipped())
    create(server, takaras)
    done = tool.once("--pass-timeout=800")
    assert (done.code, done.report["counts"]) == (0, {"created": takaras})
    read = {"list deployments": 1, "list takaras": pages(takaras), "list pods": 1, "patch configmaps": 1}
    found = counts(done)
    assert 0 < found.pop("create events") <= takaras  # as many as fit in their time
    assert found == Counter(read | {"patch deployments": takaras, "patch takaras/status": takaras})
    assert {request.code for request in done.requests} == {200, 201}
    count("requests through few seats, none rejected", len(done.requests))


def test_a_level_without_a_queue_rejects_requests_and_each_write_is_tried_five_times_at_most(
    fresh_control_plane: Callable[..., ControlPlane],
) -> None:
    """What the queue of the component is for; it also shows that the test above sees rejected requests."""
    server = fresh_control_plane(controller_manager=False, api_server_flags=FEW_SEATS)
    level, schema = shipped()
    level["spec"]["limited"]["limitResponse"] = {"type": "Reject"}
    tool = installed(server, [level, schema])
    create(server, 20)
    done = tool.once("--pass-timeout=10")
    assert 429 in {request.code for request in done.requests}
    tries = Counter((request.uri, request.verb) for request in done.writes)
    assert max(tries.values()) <= TRIES
