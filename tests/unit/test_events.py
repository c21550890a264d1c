"""Events: what gets one, what it says, that it is sent once, and that nothing depends on it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from takara_sync.cluster import DryRun
from takara_sync.deadline import Deadline
from takara_sync.diff import Change
from takara_sync.events import change_event
from takara_sync.kube.api import Response
from takara_sync.plan import Policy
from takara_sync.report import Result
from takara_sync.simulator.kinds import EVENT
from takara_sync.sync import sync_once
from tests.support.takaras import takara as manifest_of
from tests.unit.build import NOW, Json, manifest, takara
from tests.unit.world import Call, World, failure


def told(world: World) -> list[tuple[str, str]]:
    return [(event["type"], event["reason"]) for event in world.events]


def note(world: World) -> str:
    (event,) = world.events
    text: str = event["note"]
    return text


# ------------------------------------------------------------------ what gets one


def test_the_life_of_a_takara() -> None:
    """Each step: what happens, the Events of the pass after it, and words of the last of them."""
    world = World(manifest_of("one", 3))
    scaled = "Changed the Deployment: spec.replicas 7 -> 3 (set by hpa, subresource scale)"
    steps: list[tuple[Callable[[], object], list[tuple[str, str]], str]] = [
        (lambda: None, [("Normal", "Created")], "Created Deployment ns/one with 3 replicas."),
        (lambda: None, [], ""),
        (world.settle, [("Normal", "Ready")], "All 3 replicas are up to date and available."),
        (lambda: None, [], ""),
        (world.scale, [("Normal", "Changed")], scaled),
        (world.settle, [("Normal", "Ready")], "All 3 replicas"),
        (world.scale, [("Warning", "ReplicasContested")], "hpa keeps setting the replicas"),
        (lambda: None, [], ""),
        (lambda: world.edit(size=2000), [("Warning", "SizeTooLarge")], "above the limit of 1000"),
        (lambda: None, [], ""),
        (lambda: world.edit(size=3), [("Normal", "Changed")], "spec.replicas 7 -> 3"),
        (world.pause, [], ""),
        (lambda: world.delete("Takara"), [], ""),
    ]
    for happens, expected, words in steps:
        happens()
        world.sync()
        assert told(world) == expected
        assert not words or words in world.events[-1]["note"]


def test_a_take_over_names_the_changes() -> None:
    world = World(manifest_of("one", 3))
    world.deploy(replicas=5)
    world.sync()
    assert told(world) == [("Normal", "TakenOver")]
    assert note(world).startswith("Took over Deployment ns/one. It changed: ")
    assert "spec.replicas 5 -> 3 (set by takara-operator)" in note(world)


def test_a_foreign_deployment_a_rejection_and_a_policy_are_warnings() -> None:
    world = World(manifest_of("foreign", 1), manifest_of("rejected", 1), manifest_of("altered", 1))
    world.create("ns", manifest("foreign", 1) | {"metadata": {"name": "foreign"}})
    world.instead("create", failure(403, "Forbidden", "no"), "rejected")

    def at_least_two(new: Json) -> Json:
        if new["kind"] == "Deployment" and new["metadata"]["name"] == "altered":
            new["spec"]["replicas"] = max(2, new["spec"]["replicas"])
        return new

    world.store.admission.append(at_least_two)
    world.sync()
    assert sorted(told(world)) == [
        ("Normal", "Created"),
        ("Warning", "ApplyFailed"),
        ("Warning", "ChangedOnAdmission"),
        ("Warning", "DeploymentWithoutController"),
    ]
    assert [kind for kind, _ in told(world)][-1] == "Normal"  # Warnings first: there may be no time for all
    world.sync()
    assert told(world) == []


def test_a_transient_failure_has_none() -> None:
    world = World(manifest_of("one", 3))
    world.instead("create", failure(503, "ServiceUnavailable"))
    assert world.sync(seconds=2).exit == 1
    assert world.events == []


def test_no_event_for_an_apply_that_changes_no_value() -> None:
    one = takara()
    assert change_event(one, None, Result.UPDATED, ()) is None
    many = tuple(Change(f"spec.f{number:02}", 1, 2, "hpa", "2026-01-01T00:00:00Z") for number in range(12))
    event = change_event(one, None, Result.UPDATED, many)
    assert event is not None
    assert event.note.endswith("spec.f09 1 -> 2 (set by hpa); and 2 more")  # no times: a fight has one note
    assert len(event.note) <= 1024


# ------------------------------------------------------------------ the object


def test_the_object() -> None:
    world = World(manifest_of("one", 3))
    world.sync()
    (sent,) = world.events
    owner, deployment = world.get("Takara")["metadata"], world.get("Deployment")["metadata"]
    assert sent.pop("metadata")["namespace"] == "ns"
    assert sent == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "eventTime": "2026-01-01T12:00:00.000000Z",
        "reportingController": "takara.org/takara-sync",
        "reportingInstance": "takara-sync",
        "action": "Reconcile",
        "type": "Normal",
        "reason": "Created",
        "note": "Created Deployment ns/one with 3 replicas.",
        "regarding": {
            "apiVersion": "maho.takara.org/v1alpha1",
            "kind": "Takara",
            "namespace": "ns",
            "name": "one",
            "uid": owner["uid"],
        },
        "related": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "namespace": "ns",
            "name": "one",
            "uid": deployment["uid"],
        },
    }


def test_the_name_follows_from_takara_reason_note_and_hour() -> None:
    def name(uid: str = "u", change: str = "spec.a", result: Result = Result.UPDATED, minutes: int = 0) -> str:
        event = change_event(takara(uid=uid), None, result, (Change(change, 1, 2),))
        assert event is not None
        text: str = event.manifest(NOW + timedelta(minutes=minutes))["metadata"]["name"]
        return text

    same = {name(), name(minutes=59)}
    other = {name("v"), name(change="spec.b"), name(result=Result.TAKEN_OVER), name(minutes=60)}
    assert (len(same), len(same | other)) == (1, 5)
    assert all(re.fullmatch(r"takara-sync-[0-9a-f]{32}", each) for each in same | other)


# ------------------------------------------------------------------ sent once, and of no consequence


def test_a_thousand_failing_passes_send_one_event() -> None:
    """Something throws each status away, so each pass finds the Takara as it was before the first."""
    world = World(manifest_of("one", 2000))
    before = world.store.snapshot()
    kept = dict[str, Any]()
    for _ in range(1000):
        world.sync()
        assert [call.verb for call in world.calls] == [
            "list deployments",
            "list takaras",
            "get deployment",
            "list pods",
            "write status",
        ]
        kept |= world.store.held[EVENT.plural]
        world.store.restore(before)
        world.store.held[EVENT.plural] = dict(kept)
    assert len(kept) == 1


@pytest.mark.parametrize(
    ("met", "warnings"),
    [
        (failure(403, "Forbidden", "events is forbidden"), 1),
        (Response(404, {}, b"404 page not found"), 1),
        (failure(500, "InternalError"), 0),
        (failure(401, "Unauthorized"), 0),
        (failure(409, "AlreadyExists"), 0),
    ],
)
def test_events_that_cannot_be_sent_change_nothing_else(met: Response, warnings: int) -> None:
    fine, world = (World(*(manifest_of(f"t{number}", 3) for number in range(5))) for _ in range(2))
    world.instead("send event", met)
    report, expected = world.sync(), fine.sync()
    assert (report.takaras, report.error, report.exit) == (expected.takaras, None, 0)
    assert world.calls == fine.calls
    assert world.status("t3") == fine.status("t3")
    assert len(world.events) == (5 if met.status == 409 else 1)
    assert len([one for one in world.records if one.levelname == "WARNING"]) == warnings


def test_a_bug_of_ours_in_an_event_fails_no_pass() -> None:
    world = World(manifest_of("one", 3))
    world.instead("send event", ValueError("a bug"))
    assert (world.sync().exit, world.reason()) == (0, "Progressing")
    assert [one.levelname for one in world.records if one.exc_info] == ["ERROR"]


def test_none_in_a_dry_run_and_none_after_the_deadline() -> None:
    world = World(manifest_of("one", 3))
    sync_once(DryRun(world.cluster), Policy(), now=world.now)
    assert world.events == []
    deadline = Deadline(50)
    world.before("write status", lambda: deadline.stop("a test"))
    world.sync(seconds=deadline)
    assert (world.events, "write status" in world.writes) == ([], True)


def test_they_come_after_every_other_request() -> None:
    world, order = World(*(manifest_of(f"t{number}", 3) for number in range(3))), list[str]()

    def seen(call: Call, send: Callable[[], Response]) -> Response:
        order.append(call.verb)
        return send()

    world.around = seen
    world.sync()
    assert order[-3:] == ["send event"] * 3
    assert "send event" not in order[:-3]
