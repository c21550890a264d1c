"""The truth about pods in a pass: when pods are read, what the status says then, and that it never flaps."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.look import READS_MAX
from takara_sync.report import Report
from takara_sync.simulator import Controllers
from tests.support.takaras import takara
from tests.unit.build import Json
from tests.unit.world import World, failure

CRASH_LOOP: list[Json] = [
    {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 20s"}},
    {"terminated": {"exitCode": 1, "reason": "Error"}},
    {"running": {"startedAt": "2026-01-01T12:00:00Z"}},
]
PULL: Json = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}


class Pods(World):
    """Takaras whose pods no node starts."""

    def __init__(self, count: int = 1, size: int = 1) -> None:
        super().__init__(*(takara(f"t{number:03}", size) for number in range(count)))
        self.sync()
        self.start_none()
        self.sync()

    def start_none(self) -> None:
        Controllers(self.store, runs=lambda _: False).settle()

    def set_pods(self, state: Json, name: str = "t", restarts: int = 1) -> None:
        """The kubelet writes a state of the container into each pod of these Takaras.

        The phase stays Pending, because the simulator's controllers take a pod that is Running for ready.
        """
        container = {"name": "takara", "image": "busybox", "imageID": "", "ready": False, "restartCount": restarts}
        for pod in self.ask("GET", "/api/v1/namespaces/ns/pods")["items"]:
            if pod["metadata"]["name"].startswith(name):
                status = {"phase": "Pending", "containerStatuses": [container | {"state": state}]}
                self.patch("Pod", f"{pod['metadata']['name']}/status", {"status": status}, manager="kubelet")

    def set_deployment(self, name: str = "t000", **status: Any) -> None:
        """The controller writes another status."""
        self.patch("Deployment", f"{name}/status", {"status": status}, manager="kube-controller-manager")

    @property
    def looked(self) -> list[str]:
        return sorted(call.key.name for call in self.calls if call.verb == "get pods")

    def reasons(self) -> list[str]:
        return [self.reason(one["metadata"]["name"]) for one in self.items("Takara")]


def at(world: Pods, minutes: float) -> Report:
    world.minutes = minutes
    return world.sync()


def test_pods_are_read_after_the_grace_time_and_never_again_for_the_same_state() -> None:
    world = Pods()
    world.set_pods(CRASH_LOOP[0])
    assert (at(world, 0.4).takaras[0].reason, world.looked, world.writes) == ("", [], [])
    (outcome,) = at(world, 0.5).takaras
    assert (outcome.reason, world.looked, world.writes) == ("CrashLoop", ["t000"], ["write status"])
    assert (outcome.result, outcome.ready, outcome.size, outcome.ready_replicas) == ("unchanged", "Progressing", 1, 0)
    assert [event["reason"] for event in world.events] == ["CrashLoop"]
    (outcome,) = at(world, 1).takaras
    assert (outcome.reason, world.looked, world.writes, world.events) == ("CrashLoop", [], [], [])


def test_the_states_of_a_crash_loop_are_one_reason_and_cost_no_write() -> None:
    world, found = Pods(), list[tuple[str, int]]()
    world.set_pods(CRASH_LOOP[0])
    at(world, 1)
    for minute, state in enumerate(CRASH_LOOP * 2, 3):
        world.set_pods(state, restarts=minute)
        at(world, minute)
        assert (world.writes, world.looked) == ([], [])
        world.set_deployment(unavailableReplicas=1, readyReplicas=minute % 2)  # now its Deployment does change
        at(world, minute + 0.5)
        assert (world.writes, world.looked) == (["write status"], ["t000"])
        found.append((world.reason("t000"), world.status("t000")["readyReplicas"]))
    assert found == [("CrashLoop", minute % 2) for minute in range(3, 9)]


def test_a_cause_goes_with_the_generation_and_with_a_new_state_of_the_deployment() -> None:
    world = Pods()
    world.set_pods(PULL)
    at(world, 1)
    assert (world.reason("t000"), "causeFor" in world.status("t000")) == ("ImagePullFailed", True)
    world.edit("t000", size=2)
    at(world, 1.1)
    assert (world.reason("t000"), world.looked, "causeFor" in world.status("t000")) == ("Progressing", [], False)
    world.start_none()
    at(world, 1.2)
    assert (world.reason("t000"), world.looked) == ("ImagePullFailed", ["t000"])
    world.set_pods(CRASH_LOOP[0])
    at(world, 1.3)
    assert (world.reason("t000"), world.looked) == ("ImagePullFailed", [])  # the Deployment says the same as before
    world.set_deployment(readyReplicas=1)
    at(world, 1.4)
    assert (world.reason("t000"), world.looked) == ("CrashLoop", ["t000"])
    world.settle()
    world.set_deployment(readyReplicas=2, availableReplicas=2, updatedReplicas=2, replicas=2)
    at(world, 1.5)
    assert (world.reason("t000"), "causeFor" in world.status("t000")) == ("Ready", False)


def test_at_most_five_reads_a_pass_those_that_wait_longest_first() -> None:
    world = Pods(12)
    for number in range(12):  # the later its name, the longer it waits
        was = world.status(f"t{number:03}")
        was["conditions"][0]["lastTransitionTime"] = f"2026-01-01T11:{50 - number:02}:00Z"
        world.set_status(f"t{number:03}", was)
    world.set_pods(PULL)
    looks = [(at(world, 1), world.looked)[1] for _ in range(4)]
    names = [f"t{number:03}" for number in range(12)]
    assert looks == [names[7:], names[2:7], names[:2], []]
    assert READS_MAX == 5


def test_a_hundred_that_are_not_ready_cost_no_write_without_a_change_of_their_deployment() -> None:
    world = Pods(100)
    world.set_pods(CRASH_LOOP[0])
    minutes = 1.0
    while at(world, minutes).counts and world.writes:
        assert len(world.looked) <= READS_MAX
        minutes += 1
    assert world.reasons() == ["CrashLoop"] * 100
    for state in CRASH_LOOP:
        world.set_pods(state, name="t00")
        report = at(world, minutes := minutes + 1)
        assert (world.writes, world.looked, world.events) == ([], [], [])
        assert len([each for each in report.takaras if each.not_ready]) == 100
    world.set_deployment("t042", readyReplicas=1)
    at(world, minutes + 1)
    assert [call.key.name for call in world.calls if call.verb == "write status"] == ["t042"]


@pytest.mark.parametrize("met", [failure(403, "Forbidden"), failure(500, "InternalError"), failure(429)])
def test_pods_that_cannot_be_read_change_nothing(met: Any) -> None:
    world = Pods()
    world.set_pods(PULL)
    world.instead("get pods", met)
    report = at(world, 1)
    assert (report.exit, world.looked, world.writes) == (0, ["t000"], [])
    assert (report.takaras[0].reason, world.reason("t000"), world.records) == ("", "Progressing", [])


def test_a_bug_of_ours_in_a_look_fails_no_pass() -> None:
    world = Pods()
    world.set_pods(PULL)
    world.instead("get pods", ValueError("a bug"))
    assert (at(world, 1).exit, world.reason("t000")) == (0, "Progressing")
    assert [one.levelname for one in world.records if one.exc_info] == ["ERROR"]


def test_a_cause_that_could_not_be_read_again_stays() -> None:
    world = Pods()
    world.set_pods(PULL)
    at(world, 1)
    world.set_deployment(readyReplicas=1)
    world.instead("get pods", failure(500, "InternalError"), times=1)
    at(world, 2)
    assert (world.reason("t000"), world.status("t000")["readyReplicas"]) == ("ImagePullFailed", 1)
    at(world, 3)
    assert world.looked == ["t000"]
    at(world, 4)
    assert (world.looked, world.writes) == ([], [])


def test_late_and_a_cause_is_stalled_with_the_reason_of_the_cause() -> None:
    world = Pods()
    world.set_pods(PULL)
    late = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "timed out."}
    world.set_deployment(conditions=[late])
    at(world, 0.1)
    assert [world.reason("t000", kind) for kind in ("Ready", "Stalled")] == ["ProgressDeadlineExceeded"] * 2
    report = at(world, 1)
    assert [world.reason("t000", kind) for kind in ("Ready", "Stalled")] == ["ImagePullFailed"] * 2
    assert (report.exit, report.takaras[0].ready) == (0, "Stalled")
