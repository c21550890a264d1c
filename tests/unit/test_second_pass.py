"""A second pass writes nothing, over fleets of any kind; and what a first pass may write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from takara_sync.objects import Key
from takara_sync.plan import Policy
from takara_sync.sync import sync_once
from tests.unit.build import (
    NOW,
    PAUSED,
    TEMPLATE,
    Json,
    complete,
    condition,
    deployment_json,
    edited,
    legacy,
    lost,
    own_entry,
    owner,
    pod_json,
    recorded,
    scaled,
    takara_json,
)
from tests.unit.fake import FakeCluster

if TYPE_CHECKING:
    from collections.abc import Callable

GONE: Json = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
SIZES = st.sampled_from([0, 1, 3, 3, 3, 1001, -1, None, "3", 2.5, True])
METADATA: st.SearchStrategy[Json] = st.sampled_from([{}, {}, {}, {"annotations": PAUSED}, GONE])
TAKEN = {"manager": "hpa", "at": "2026-01-01T11:59:00Z"}
LIVE: dict[str, Callable[[str], Json | None]] = {
    "none": lambda _: None,
    "ours": deployment_json,
    "ours, complete": lambda name: deployment_json(name, status=complete(3)),
    "scaled": lambda name: scaled(deployment_json(name), 7),
    "edited": lambda name: edited(deployment_json(name), "nginx"),
    "edited and scaled": lambda name: edited(scaled(deployment_json(name), 7), "nginx"),
    "label lost": lambda name: lost(deployment_json(name), "f:metadata", "f:labels", "f:app"),
    "fields cleared": lambda name: deployment_json(name, managedFields=None),
    "fields cleared, other size": lambda name: deployment_json(name, 9, managedFields=None),
    "legacy": lambda name: legacy(deployment_json(name)),
    "legacy, other size": lambda name: legacy(deployment_json(name, 9)),
    "legacy beside ours": lambda name: deployment_json(
        name, managedFields=[own_entry(name), *legacy(deployment_json(name))["metadata"]["managedFields"]]
    ),
    "nobody's": lambda name: deployment_json(name, ownerReferences=None),
    "predecessor's, unlabelled": lambda name: deployment_json(
        name, ownerReferences=[owner(name, uid="x")], labels=None
    ),
    "leaving, unlabelled": lambda name: deployment_json(name, labels=None, **GONE),
    "leaving": lambda name: deployment_json(name, **GONE),
}


@st.composite
def statuses(draw: st.DrawFn, name: str) -> Any:
    """Nothing, something odd, or what some earlier pass has told."""
    if draw(st.booleans()):
        return draw(st.sampled_from([None, "text", [], {}, {"deployment": None, "conditions": 5, "nodes": None}]))
    record = recorded(name, 3, format=draw(st.sampled_from([0, 1, 1, 1, 2])))
    taken = {"replicasTakenBy": TAKEN} if draw(st.booleans()) else {}
    reason = draw(st.sampled_from(["Ready", "ReplicasContested"]))
    told = [condition("Ready", "False", reason), condition("Mine", "True", "x")]
    return {"observedGeneration": 1, "deployment": record | taken, "conditions": told}


@st.composite
def fleets(draw: st.DrawFn) -> list[Json]:
    """Takaras with their Deployments and a pod each, in every combination."""
    fleet: list[Json] = []
    for number in range(draw(st.integers(1, 4))):
        name = f"t{number}"
        spec: Json = {"size": draw(SIZES)} | draw(
            st.sampled_from([{}, {}, {}, {"template": TEMPLATE}, {"template": 5}])
        )
        fleet.append(takara_json(name, spec=spec, status=draw(statuses(name)), **draw(METADATA)))
        live = LIVE[draw(st.sampled_from(sorted(LIVE)))](name)
        fleet += [] if live is None else [live]
        fleet.append(pod_json(name, f"{name}-pod"))
    return fleet


POLICIES = st.builds(
    Policy,
    max_changes=st.sampled_from([None, None, 100]),
    allow_templates=st.booleans(),
    accept_newer_format=st.booleans(),
)


@settings(max_examples=250, deadline=None)
@given(fleets(), POLICIES, st.integers(0, 5))
def test_a_second_pass_writes_nothing(fleet: list[Json], policy: Policy, offset: int) -> None:
    cluster = FakeCluster(*fleet)
    first = sync_once(cluster, policy, workers=2, now=lambda: NOW)
    assert first.error is None
    assert first.exit in {0, 6}
    cluster.requests.clear()
    second = sync_once(cluster, policy, workers=2, offset=offset, now=lambda: NOW)
    assert cluster.writes == []
    assert second.exit == first.exit
    assert {outcome.key for outcome in second.outcomes} == {outcome.key for outcome in first.outcomes}


@settings(max_examples=100, deadline=None)
@given(fleets(), POLICIES)
def test_what_is_not_ours_or_going_is_never_touched(fleet: list[Json], policy: Policy) -> None:
    cluster = FakeCluster(*fleet)
    before = {key: dict(value) for key, value in cluster.stored["Deployment"].items()}
    sync_once(cluster, policy, workers=2, now=lambda: NOW)
    for key, was in before.items():
        mine = owner(key.name) in (was["metadata"]["ownerReferences"] or [])
        takara = cluster.stored["Takara"][key]
        going = "deletionTimestamp" in was["metadata"] | takara["metadata"]
        if going or not mine or takara["metadata"].get("annotations") == PAUSED:
            assert cluster.stored["Deployment"][key] == was
    for key, takara in cluster.stored["Takara"].items():
        assert "deletionTimestamp" not in takara["metadata"] or takara["metadata"]["resourceVersion"] == "1", key


def test_the_order_of_the_lists_does_not_matter() -> None:
    fleet = [takara_json(name) for name in "abc"] + [pod_json("a", f"p{n}") for n in range(5)]
    cluster = FakeCluster(*fleet)
    sync_once(cluster, now=lambda: NOW)
    cluster.requests.clear()
    for kind in ("Takara", "Deployment", "Pod"):
        cluster.stored[kind] = dict(reversed(cluster.stored[kind].items()))
    sync_once(cluster, now=lambda: NOW)
    assert cluster.writes == []
    assert cluster.stored["Takara"][Key("ns", "a")]["status"]["nodes"] == [f"p{n}" for n in range(5)]
