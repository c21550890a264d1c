"""What one namespace meets must not delay the others: a webhook that hangs, a quota; and an API server that is away."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from takara_sync import Policy, sync_once
from takara_sync.kube import api as api_module
from takara_sync.report import Result
from takara_sync.simulator import Store
from tests.support.takaras import takara
from tests.support.transport import in_process, is_aside
from tests.tool import Tool
from tests.wire.fleet import Behind
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from takara_sync.kube.api import Request, Response
    from tests.control_plane.server import ControlPlane

GOOD = [f"good-{number}" for number in range(5)]
HANGING = [f"hanging-{number:02}" for number in range(40)]


# ------------------------------------------------------------------ a quota


REFUSED = 600
INTERVAL = timedelta(seconds=10)


def test_what_a_quota_refuses_delays_no_other_namespace_and_is_not_tried_in_every_pass() -> None:
    """600 refused Takaras in an early namespace, one good one in the last: it is created in the first pass."""
    store = Store(seed=7)
    behind, now = Behind(store), datetime(2030, 1, 1, tzinfo=UTC)
    for namespace, names in {"aaa": [f"refused-{number:03}" for number in range(REFUSED)], "zzz": ["good"]}.items():
        behind.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        for name in names:
            behind.call("POST", f"/apis/maho.takara.org/v1alpha1/namespaces/{namespace}/takaras", takara(name))
    writes: Counter[str] = Counter()
    statuses = set[str]()

    def quota(request: Request, send: Callable[[], Response]) -> Response:
        if is_aside(request):
            return send()
        if request.path.endswith("/status"):
            statuses.add(request.path)
            writes["status"] += 1
        elif request.writes:
            writes[request.path.split("/")[5]] += 1
            if "/namespaces/aaa/" in request.path:
                return _forbidden()
        return send()

    cluster, policy, start = in_process(store.handle, quota), Policy(interval=INTERVAL), None
    assert policy.rejections == 120
    for number in range(5):
        writes.clear()
        moment = now + number * INTERVAL
        report = sync_once(cluster, policy, workers=1, start=start, now=lambda moment=moment: moment)  # type: ignore[misc]
        start = report.next_start
        assert writes == {"aaa": 120, "status": 120} | ({"zzz": 1, "status": 121} if number == 0 else {})
        assert report.counts[Result.CREATED if number == 0 else Result.UNCHANGED] == 1
    assert len(statuses) == REFUSED + 1  # each has one after these five passes
    writes.clear()
    sync_once(cluster, policy, workers=1, start=start, now=lambda: now + 5 * INTERVAL)
    assert 0 < writes["aaa"] < 60  # those whose moment in five minutes this is; a sixtieth of them every 5 s
    assert writes["status"] == 0


def _forbidden() -> Response:
    message = "deployments is forbidden: exceeded quota: tenant, requested: count/deployments.apps=1"
    body = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": message}
    return api_module.Response(403, {}, json.dumps(body).encode())


# ------------------------------------------------------------------ on a real server


@pytest.fixture
def silence() -> Iterator[str]:
    """The address of a server that accepts connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=200) as listening:
        yield f"https://127.0.0.1:{listening.getsockname()[1]}/"


def _webhook(name: str, namespace: str, url: str, seconds: int) -> dict[str, Any]:
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": name,
                "clientConfig": {"url": url},
                "rules": [rule],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "timeoutSeconds": seconds,
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }
        ],
    }


@pytest.mark.timeout(180)
def test_a_webhook_that_hangs_delays_no_other_namespace_and_is_named(
    control_plane: ControlPlane, silence: str, long: bool
) -> None:
    """The default settings, and the default time of a webhook; in the short form both are shorter."""
    worlds = [World(control_plane, control_plane.namespace()) for _ in range(2)]
    hanging, good = worlds
    hanging.create(*map(takara, HANGING))
    good.create(*map(takara, GOOD))
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    name = f"hangs.{hanging.namespace}.example.org"
    hanging.call("POST", hooks, _webhook(name, hanging.namespace, silence, 10 if long else 2))
    try:
        time.sleep(1)  # until the API server has read it
        tool = Tool(control_plane, f"{hanging.namespace},{good.namespace}")
        done = tool.once(*(() if long else ("--pass-timeout", "8s")))
    finally:
        hanging.call("DELETE", f"{hooks}/{name}")

    lines = {one["name"]: one for one in done.report["takaras"]}
    assert [lines[each]["result"] for each in GOOD] == ["created"] * len(GOOD)
    assert all(lines[each]["statusWritten"] for each in GOOD)
    failed = [lines[each] for each in HANGING if lines[each]["result"] == "failed"]
    assert failed
    assert any(name in one["message"] for one in failed), failed
    assert not any(lines[each]["result"] == "created" for each in HANGING)


@pytest.mark.timeout(180)
def test_an_api_server_that_is_away_for_ten_seconds_costs_nothing(
    fresh_control_plane: Callable[..., ControlPlane],
) -> None:
    """It is killed in the middle of the writes, and started again on the same port."""
    server = fresh_control_plane(controller_manager=False)
    world = World(server, server.namespace())
    names = [f"one-{number:02}" for number in range(30)]
    world.create(*map(takara, names))
    tool = Tool(server, world.namespace)
    with tool.started("once", "--concurrency", "2") as process:
        assert process.stderr is not None
        while " created" not in process.stderr.readline():
            pass
        server.restart(after=8.0)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    report = json.loads(stdout)
    assert {one["name"]: one["result"] for one in report["takaras"]} == dict.fromkeys(names, "created")
    assert all(one["statusWritten"] for one in report["takaras"])
    tool.settled()
