"""A second pass writes nothing, over fleets of any kind; and what no pass may touch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from takara_sync.objects import Key
from takara_sync.plan import Policy
from tests.support.takaras import takara
from tests.unit.build import PAUSED, TEMPLATE, UNHURRIED, Json, condition, owner
from tests.unit.people import GO_OPERATOR, STRATEGIC
from tests.unit.world import World

SIZES = st.sampled_from([3, 3, 3, 0, 1, 1001, -1, None, "3", 2.5, True])
SPECS = st.builds(lambda size, more: {"size": size} | more, SIZES, st.sampled_from([{}, {}, {"template": TEMPLATE}]))
TAKEN = {"replicasTakenBy": {"manager": "hpa", "at": "2026-01-01T11:59:00Z"}}
Member = tuple[str, str, str, dict[str, Any], Any]
ODD: list[Any] = ["text", [], {}, {"deployment": None, "conditions": 5, "nodes": None}]


def _label(world: World, name: str, value: str | None) -> None:
    world.patch("Deployment", name, {"metadata": {"labels": {"app": value}}})


def _resized(world: World, name: str) -> None:
    world.clear_managed_fields(name)
    world.scale(name, 9)


BEFORE: dict[str, Callable[[World, str], object]] = {  # what is there before takara-sync is
    "nothing": lambda _, __: None,
    "the Go operator's": lambda world, name: world.deploy(name),
    "the Go operator's, other size": lambda world, name: world.deploy(name, 9, "takara-operator-local"),
    "nobody's": lambda world, name: world.deploy(name, ownerReferences=None),
    "a predecessor's": lambda world, name: world.deploy(name, ownerReferences=[owner(name, uid="x")]),
}
AFTER: dict[str, Callable[[World, str], object]] = {  # what becomes of a Deployment of ours
    "nothing": lambda _, __: None,
    "scaled": lambda world, name: world.scale(name),
    "scaled to 0": lambda world, name: world.scale(name, 0),
    "image": lambda world, name: world.set_image(name),
    "image and scaled": lambda world, name: (world.set_image(name), world.scale(name)),
    "another label": lambda world, name: _label(world, name, "mine"),
    "no label": lambda world, name: _label(world, name, None),
    "cleared fields": lambda world, name: world.clear_managed_fields(name),
    "cleared fields, other size": _resized,
    "the Go operator again": lambda world, name: world.patch(
        "Deployment", name, {"spec": {"replicas": 4}}, STRATEGIC, GO_OPERATOR
    ),
    "being deleted": lambda world, name: world.hold("Deployment", name),
    "gone": lambda world, name: world.delete("Deployment", name),
}


def contested(world: World, name: str) -> None:
    record = world.status(name).get("deployment", {}) | TAKEN
    world.set_status(name, {"deployment": record, "conditions": [condition("Ready", "False", "ReplicasContested")]})


TAKARAS: dict[str, Callable[[World, str], object]] = {
    "as it is": lambda _, __: None,
    "paused": lambda world, name: world.pause(name),
    "being deleted": lambda world, name: world.hold("Takara", name),
    "contested": contested,
    "newer format": lambda world, name: world.set_status(name, {"deployment": {"format": 2}}),
    "older format": lambda world, name: world.set_status(name, {"deployment": {"format": 0}}),
}


MEMBERS = st.tuples(
    *map(st.sampled_from, (sorted(BEFORE), sorted(AFTER), sorted(TAKARAS))), SPECS, st.sampled_from(ODD)
)


def fleet(members: list[Member], *, had_a_pass: bool) -> World:
    """Takaras in every combination, which have had a pass already or not."""
    named = {f"t{number}": member for number, member in enumerate(members)}
    world = World(*(takara(name, 3) for name in named))
    for name, (before, _, _, _, odd) in named.items():
        BEFORE[before](world, name)
        _ = had_a_pass or world.set_status(name, odd)
    if had_a_pass:
        world.sync()
        ours = [one["metadata"]["name"] for one in world.items("Deployment") if _is_ours(world, one)]
        for name, (_, after, kind, _, _) in named.items():
            if name in ours or kind in ("paused", "being deleted"):  # a status of ours comes with a Deployment of ours
                TAKARAS[kind](world, name)
            _ = name in ours and AFTER[after](world, name)
    for name, (*_, spec, _) in named.items():
        world.edit(name, **spec)
    return world


def _is_ours(world: World, live: Json) -> bool:
    owners = live["metadata"].get("ownerReferences") or [{}]
    return bool(owners[0].get("uid") == world.get("Takara", live["metadata"]["name"])["metadata"]["uid"])


POLICIES = st.builds(
    Policy,
    max_changes=st.sampled_from([None, None, 100]),
    allow_templates=st.booleans(),
    accept_newer_format=st.booleans(),
)


@settings(UNHURRIED, max_examples=80)
@given(st.lists(MEMBERS, min_size=1, max_size=4), st.booleans(), POLICIES, st.sampled_from([None, Key("ns", "t1")]))
def test_a_second_pass_writes_nothing(
    members: list[Member], had_a_pass: bool, policy: Policy, start: Key | None
) -> None:
    world = fleet(members, had_a_pass=had_a_pass)
    untouched = {one["metadata"]["name"]: one for one in world.items("Deployment") if not may_write(world, one)}
    deleting = [one for one in world.items("Takara") if "deletionTimestamp" in one["metadata"]]
    first = world.sync(policy, workers=2)
    assert first.error is None
    assert first.exit in {0, 6}
    after = {one["metadata"]["name"]: one for one in world.items("Deployment")}
    assert {name: after[name] for name in untouched} == untouched
    assert [world.get("Takara", one["metadata"]["name"]) for one in deleting] == deleting
    assert set(world.logged) == set(world.changed)
    second = world.sync(policy, workers=2, start=start)
    assert world.writes == []
    assert (second.exit, len(second.takaras)) == (first.exit, len(first.takaras))


def may_write(world: World, live: Json) -> bool:
    takara = world.get("Takara", live["metadata"]["name"])["metadata"]
    going = "deletionTimestamp" in live["metadata"] | takara
    return _is_ours(world, live) and not going and takara.get("annotations") != PAUSED
