"""The facts of `status`, in numbers and words. What a person sees: commands/test_status.py."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from takara_sync.cli.status import copies, detail, overview, words
from takara_sync.objects import Takara
from tests.unit.build import Json

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (119, "119s"), (120, "2m"), (7199, "119m"), (7200, "2h"), (172799, "47h"), (172800, "2d")],
)
def test_ages_are_never_coarser_than_half(seconds: float, text: str) -> None:
    assert words.age(seconds) == text


@pytest.mark.parametrize(
    ("at", "text"),
    [
        ("2026-01-01T11:59:00Z", "2026-01-01T11:59:00Z (60s ago)"),
        ("2026-01-01T13:10:00.123456+01:00", "2026-01-01T12:10:00Z (in 10m)"),
        ("2026-01-01T11:59:00", "2026-01-01T11:59:00Z (60s ago)"),
        ("", "at an unknown time"),
        ("soon", "at an unknown time"),
    ],
)
def test_moments(at: str, text: str) -> None:
    assert words.moment(at, NOW) == text


# ------------------------------------------------------------------ late


@pytest.mark.parametrize(
    ("kind", "schedule", "data", "period"),
    [
        ("CronJob", "* * * * *", {}, 60),
        ("CronJob", "*/5 * * * *", {}, 300),
        ("CronJob", "@hourly", {}, None),
        ("CronJob", "5 * * * *", {}, None),
        ("CronJob", "*/x * * * *", {}, None),
        ("CronJob", "* 3 * * *", {}, None),
        ("Deployment", "", {"interval": "10"}, 60),
        ("Deployment", "", {"interval": "600"}, 600),
        ("Deployment", "", {"interval": "often"}, 60),
        ("Deployment", "", {}, 60),
    ],
)
def test_how_often_a_copy_records_its_last_pass(kind: str, schedule: str, data: Any, period: float | None) -> None:
    assert copies._period(kind, schedule, data) == period


# ------------------------------------------------------------------ Takaras by state


def conditions(reason: str, *, stalled: bool = False, message: str = "why") -> Json:
    ready = {"type": "Ready", "status": "True" if reason == "Ready" else "False", "reason": reason, "message": message}
    found = [ready] + ([ready | {"type": "Stalled", "status": "True"}] if stalled else [])
    return {"observedGeneration": 1, "conditions": found}


def built(status: Any = None, **more: Any) -> Takara:
    """A Takara as it comes from the server."""
    body = {
        "metadata": {"name": "one", "namespace": "ns", "uid": "u", "generation": 1} | more.pop("metadata", {}),
        "spec": {"size": 1},
        "status": status,
    }
    return msgspec.json.decode(msgspec.json.encode(body | more), type=Takara)


def test_every_takara_counts_once_and_the_ready_ones_come_first() -> None:
    found = overview.takaras_document(
        [
            built(conditions("Ready"), metadata={"name": "a"}),
            built(conditions("Progressing"), metadata={"name": "b"}),
            built(conditions("InvalidSize", stalled=True), metadata={"name": "c"}, spec={"size": "x"}),
            built(conditions("Ready"), metadata={"name": "d", "generation": 2}),
            built({"observedGeneration": -1}, metadata={"name": "e"}),
            built(conditions("Ready"), metadata={"name": "f", "deletionTimestamp": "2026-01-01T00:00:00Z"}),
            built("nonsense", metadata={"name": "g"}),
        ]
    )
    assert list(found.states.items()) == [
        ("Ready", 2),
        ("InvalidSize", 1),
        ("Progressing", 1),
        ("Unseen", 2),
        ("Deleting", 1),
    ]
    assert (found.total, [each.name for each in found.attention]) == (7, list("bcdefg"))
    assert [each.name for each in found.attention if each.stale] == ["d", "e", "g"]
    assert [each.name for each in found.attention if each.stalled] == ["c"]


# ------------------------------------------------------------------ the next step


def steps(one: Takara, **facts: Any) -> str:
    return " ".join(detail.next_steps(one, facts.get("deployment"), facts.get("pods", ()), facts.get("retry")))


def test_the_next_step_of_each_state() -> None:
    pod = detail.PodDocument("one-a", "ImagePullBackOff", ready=False, restarts=0, message="no such image")
    paused = {"annotations": {"maho.takara.org/paused": "true"}}
    deleting = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    retry = detail.RetryDocument("spec.replicas", "hpa", "2026-01-01T12:00:00Z", "2026-01-01T12:10:00Z", 1)
    table = {
        "": steps(built(conditions("Ready"))),
        "Wait: garbage collection": steps(built(conditions("Ready"), metadata=deleting)),
        "kubectl -n ns annotate takara one maho.takara.org/paused-": steps(
            built(conditions("Paused"), metadata=paused)
        ),
        "No pass has seen generation 2": steps(built(conditions("Ready"), metadata={"generation": 2})),
        "No pass has seen generation 1": steps(built()),
        "A person has to act: why": steps(built(conditions("InvalidSize", stalled=True))),
        "A loop tries again within 5 minutes.": steps(built(conditions("ApplyFailed", stalled=True))),
        "why takara-sync tries spec.replicas again at 2026-01-01T12:10:00Z.": steps(
            built(conditions("ReplicasContested")), retry=retry
        ),
        "See why one-a is ImagePullBackOff: kubectl -n ns describe pod one-a": steps(
            built(conditions("Progressing")), pods=[pod]
        ),
        "kubectl -n ns describe deployment,replicaset -l app=takara,takara_cr=one": steps(
            built(conditions("Progressing"))
        ),
    }
    for expected, found in table.items():
        assert expected in found
        assert bool(expected) == bool(found)


# ------------------------------------------------------------------ pods


def pod(name: str = "one-5d-x", labels: Any = None, owner: str = "one-5d", **status: Any) -> detail.PodAndStatus:
    labels = {"app": "takara", "takara_cr": "one", "pod-template-hash": "5d"} if labels is None else labels
    owners = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": "r", "controller": True}]
    metadata = {"name": name, "namespace": "ns", "labels": labels, "ownerReferences": owners}
    metadata |= {"deletionTimestamp": status.pop("deleted")} if "deleted" in status else {}
    return msgspec.json.decode(msgspec.json.encode({"metadata": metadata, "status": status}), type=detail.PodAndStatus)


WAITING = {
    "name": "takara",
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
    "restartCount": 4,
}
UNSCHEDULED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}


@pytest.mark.parametrize(
    ("status", "state", "ready", "message"),
    [
        ({"phase": "Running"}, "Running", True, ""),
        ({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}, "Running", False, ""),
        ({"phase": "Running", "containerStatuses": [WAITING]}, "CrashLoopBackOff", True, "back-off"),
        ({"phase": "Pending", "conditions": [UNSCHEDULED]}, "Unschedulable", False, "0/3 nodes"),
        ({"phase": "Pending", "initContainerStatuses": [WAITING]}, "CrashLoopBackOff", False, "back-off"),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted", False, ""),
        ({"phase": "Running", "deleted": "2026-01-01T00:00:00Z"}, "Terminating", True, ""),
        ({}, "Pending", False, ""),
    ],
)
def test_the_state_of_a_pod(status: Any, state: str, ready: bool, message: str) -> None:
    (found,) = detail.pods_of(built(), [pod(**status)])
    assert (found.state, found.ready, found.message) == (state, ready, message)


def test_a_stray_with_the_right_labels_is_not_counted() -> None:
    assert detail.pods_of(built(), [pod(owner="other-5d")]) == ()
