"""A Deployment as declared whose pods do not run: what people see with kubectl, in the report and as an exit code.

The control plane has no nodes: the tests are the kubelet and the scheduler. Quotas, Pod Security and controllers are
real.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.commands.running import ON_THE_SIMULATOR, Commands
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.world import Json, World, takara

MERGE = "application/merge-patch+json"
LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture
def real(real_world: World) -> tuple[World, Commands]:
    return real_world, Commands(real_world.server, real_world.namespace)


def wait_for(world: World, name: str, kind: str) -> None:
    """Until the Deployment has a condition of this type that is not False."""

    def open_for() -> str:
        found = world.deployment(name).get("status", {}).get("conditions", [])
        return "" if any(one["type"] == kind and one["status"] != "False" for one in found) else f"{found}"

    wait_until(open_for, within=SETTLE_SECONDS)


def wait_for_pods(world: World, name: str, count: int) -> None:
    """Until the Deployment's own status knows of so many pods."""

    def open_for() -> str:
        status = world.deployment(name).get("status", {})
        seen = status.get("observedGeneration") == world.deployment(name)["metadata"]["generation"]
        return "" if seen and status.get("updatedReplicas", 0) == count else f"{status}"

    wait_until(open_for, within=SETTLE_SECONDS)


def long_ago(world: World, name: str) -> None:
    """The Takara has not been Ready for years."""
    status = world.status(name)
    for one in status["conditions"]:
        one["lastTransitionTime"] = LONG_AGO
    path = f"{world.takara_path(name)}/status"
    world.call("PATCH", path, {"status": {"conditions": status["conditions"]}}, content_type=MERGE)


def set_pods(world: World, name: str, **status: Any) -> None:
    for pod in world.pods(name):
        path = f"/api/v1/namespaces/{world.namespace}/pods/{pod}/status"
        world.call("PATCH", path, {"status": status}, content_type="application/strategic-merge-patch+json")


def container(restarts: int = 0, **state: Json) -> Json:
    made = {"name": "takara", "image": "busybox", "imageID": "", "ready": False, "restartCount": restarts}
    return made | {"state": state}


def seen(world: World, name: str) -> tuple[str, str]:
    """What a person sees: STATUS of `kubectl get tk`, and the Events of `kubectl describe tk`."""
    row = world.kubectl("get", "tk", name, "--no-headers").split()
    return row[4] if len(row) == 6 else row[3], world.kubectl("describe", "tk", name).partition("\nEvents:")[2]


def test_a_quota_on_pods(real: tuple[World, Commands]) -> None:
    world, commands = real
    quota = {"metadata": {"name": "small"}, "spec": {"hard": {"pods": "1"}}}
    path = f"/api/v1/namespaces/{world.namespace}/resourcequotas"
    world.call("POST", path, quota)
    wait_until(lambda: "" if "hard" in world.call("GET", f"{path}/small").get("status", {}) else "no status", within=60)
    world.create(takara("app", 3))
    commands.converge()
    wait_for(world, "app", "ReplicaFailure")

    done = commands.run("once")

    assert done.code == 0
    row, last = done.stdout.splitlines()[1:]
    assert row.split()[:5] == [world.namespace, "app", "3", "0", "unchanged"]
    assert all(words in row for words in ("QuotaExceeded: Pods cannot be created: exceeded quota: small", "lower"))
    assert f"1 Takara: 1 unchanged; 1 not Ready: {world.namespace}/app 0/3 exceeded quota (" in last
    status, events = seen(world, "app")
    assert status == "QuotaExceeded"
    assert all(words in events for words in ("Created", "Warning", "QuotaExceeded", "exceeded quota: small"))
    strict = commands.json("once", "--fail-on", "not-ready")
    assert (strict.code, strict.writes, strict.report["error"]) == (4, [], None)
    assert strict.line_of("app") | {"size": 3, "readyReplicas": 0, "reason": "QuotaExceeded"} == strict.line_of("app")
    assert "not Ready" in strict.log[-1]["message"]


def test_pod_security(real: tuple[World, Commands]) -> None:
    world, commands = real
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    world.call("PATCH", f"/api/v1/namespaces/{world.namespace}", label, content_type=MERGE)
    world.create(takara("app", 1))
    commands.converge()
    wait_for(world, "app", "ReplicaFailure")

    done = commands.converge()

    assert done.line_of("app")["reason"] == "PodSecurityViolation"
    assert 'violates PodSecurity "restricted:latest"' in done.line_of("app")["message"]
    status, events = seen(world, "app")
    assert (status, "PodSecurityViolation" in events) == ("PodSecurityViolation", True)


def test_a_paused_rollout_says_who_and_the_way_out_and_is_resumed_by_it(real: tuple[World, Commands]) -> None:
    world, commands = real
    world.create(takara("app", 1))
    commands.converge()
    world.server.make_ready(world.namespace, "app")
    world.kubectl("rollout", "pause", "deployment/app")
    world.kubectl("set", "image", "deployment/app", "takara=nginx")
    wait_until(lambda: _is_paused(world), within=SETTLE_SECONDS)
    commands.converge()  # it sets the image back, but nothing is rolled out
    assert world.deployment("app")["spec"]["paused"] is True
    world.merge("app", {"spec": {"size": 2}})
    commands.converge()

    line = commands.converge().line_of("app")

    assert line["reason"] == "RolloutPaused"
    assert "Deployment is paused (spec.paused is set by kubectl-rollout, 20" in line["message"]
    assert seen(world, "app")[0] == "RolloutPaused"
    world.kubectl(*line["message"].partition("until: kubectl ")[2].split()[2:])
    world.server.make_ready(world.namespace, "app")
    assert commands.converge().line_of("app")["ready"] == "Ready"
    assert "Ready" in seen(world, "app")[1]


def _is_paused(world: World) -> str:
    found = world.deployment("app")["status"]["conditions"]
    return "" if any(one["reason"] == "DeploymentPaused" for one in found) else f"{found}"


WAITING = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "busybox"'}
NO_ROOM = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes: no cpu"}


@pytest.mark.parametrize(
    ("reason", "status", "words"),
    [
        ("ImagePullFailed", {"containerStatuses": [container(waiting=WAITING)]}, "Back-off pulling image"),
        ("Unschedulable", {"conditions": [NO_ROOM]}, "0/3 nodes: no cpu"),
        ("CrashLoop", {"containerStatuses": [container(3, terminated={"exitCode": 7})]}, "exit code 7"),
    ],
)
def test_what_only_the_pods_say(real: tuple[World, Commands], reason: str, status: Json, words: str) -> None:
    world, commands = real
    world.create(takara("app", 2))
    commands.converge()
    wait_for_pods(world, "app", 2)
    world.settle()
    commands.converge()
    set_pods(world, "app", **status)
    assert commands.converge().line_of("app")["reason"] == ""  # it has waited for a moment only
    long_ago(world, "app")

    found = commands.converge()

    assert found.line_of("app")["reason"] == reason
    assert words in found.line_of("app")["message"]
    assert [request.resource for request in found.requests if request.verb == "list"].count("pods") == 2
    shown, events = seen(world, "app")
    assert (shown, words in events) == (reason, True)
    set_pods(world, "app", containerStatuses=[container(4, running={"startedAt": LONG_AGO})])
    commands.settled()  # three lists and no write, whatever the pods do
    assert seen(world, "app")[0] == reason


@ON_THE_SIMULATOR
def test_fail_on_not_ready_counts_what_wait_waits_for(world: World, commands: Commands) -> None:
    world.create(takara("one", 1), takara("held", 1))
    fails = ("once", "--fail-on", "not-ready")
    created = commands.json(*fails)
    assert created.code == 4
    assert commands.json("once").code == 0
    world.server.make_ready(world.namespace, "one")
    world.merge("held", {"spec": {"size": 2}, "metadata": {"annotations": {"maho.takara.org/paused": "true"}}})
    assert commands.json(*fails).code == 0  # nobody waits for one that is paused
    world.create(takara("large", 5000))
    assert commands.json(*fails).code == 6
    assert commands.json(*fails, "--tolerate", "invalid").code == 0
