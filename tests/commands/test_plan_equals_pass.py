"""What is planned is what happens: the plan, the dry run and the real pass agree, and only the last one writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.commands.running import Commands
from tests.commands.scenarios import CATALOGUE
from tests.commands.staging import Scenario
from tests.tool import Pass
from tests.world import Json, World

# The simulator meets all of these situations in tests/crash, many times.
pytestmark = pytest.mark.parametrize("server", ["real"], indirect=True)

# What a plan calls what a report calls so.
DONE = {
    "create": {"created"},
    "apply": {"updated"},
    "take over": {"taken over"},
    "keep": {"unchanged"},
    "skip": {"skipped"},
    "contested": {"contested"},
    "waiting": {"skipped"},
    "blocked": {"blocked"},
    "invalid": {"invalid"},
}

# What the server fills into a container by its own rules.
FILLED_IN = {"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy"}


def changes(done: Pass) -> dict[str, list[tuple[Any, ...]]]:
    """Of each Takara: field, old, new, manager."""
    fields = ("field", "old", "new", "manager")
    return {line["name"]: [tuple(c[f] for f in fields) for c in line["changes"]] for line in done.report["takaras"]}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of an object by its path, as reports write it."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for item in value:
            keys = next(k for k in (("name",), ("containerPort", "protocol"), ("uid",)) if _ours(k, item))
            yield from leaves(item, f"{path}[{','.join(str(item[key]) for key in keys)}]")
    else:
        yield path, value


def _ours(keys: tuple[str, ...], item: Json) -> bool:
    return all(key in item for key in keys) and not (keys == ("name",) and "containerPort" in item)


def written(before: Json, after: Json) -> dict[str, tuple[Any, Any]]:
    """What differs between two states of a Deployment, but for what controllers and the server itself write."""
    old, new = (dict(leaves({"metadata": _told(one["metadata"]), "spec": one["spec"]})) for one in (before, after))
    paths = {path for path in old.keys() | new.keys() if path.rpartition(".")[2] not in FILLED_IN}
    return {path: (old.get(path), new.get(path)) for path in paths if old.get(path) != new.get(path)}


def _told(metadata: Json) -> Json:
    """Without the finalizer by which garbage collection deletes in the foreground, a moment later."""
    finalizers = [each for each in metadata.get("finalizers", ()) if each != "foregroundDeletion"]
    return {key: metadata[key] for key in ("labels", "ownerReferences") if key in metadata} | {"finalizers": finalizers}


def live(world: World) -> dict[str, Json]:
    items = world.call("GET", f"/apis/apps/v1/namespaces/{world.namespace}/deployments")["items"]
    return {item["metadata"]["name"]: item for item in items}


@pytest.mark.parametrize("scenario", CATALOGUE, ids=[each.name for each in CATALOGUE])
def test_what_is_planned_is_what_happens(world: World, commands: Commands, scenario: Scenario) -> None:
    scenario.prepare(world, commands)
    before = live(world)

    plan = commands.reading("plan", *scenario.flags)
    dry = commands.reading("once", "--dry-run", *scenario.flags)
    assert {name: one["spec"] for name, one in live(world).items()} == {n: one["spec"] for n, one in before.items()}
    real = commands.json("once", *scenario.flags)

    assert changes(plan) == changes(real)
    assert changes(dry) == changes(real)
    assert dry.results == real.results
    for line in plan.report["takaras"]:
        assert real.results[line["name"]] in DONE[line["action"]] | ({"unchanged"} if not line["changes"] else set())
    pending = [one for one in plan.report["takaras"] if one["action"] in ("create", "take over") or one["changes"]]
    assert dry.code == (1 if pending else real.code)
    assert plan.code == (1 if {"waiting"} & {one["action"] for one in plan.report["takaras"]} else dry.code)
    _as_announced(plan, before, live(world))
    touched = {request.name for request in real.writes if request.resource == "deployments" and request.code < 300}
    kept = {line["name"] for line in plan.report["takaras"] if line["action"] not in ("create", "apply", "take over")}
    assert not touched & kept


def _as_announced(plan: Pass, before: dict[str, Json], after: dict[str, Json]) -> None:
    """Each Deployment differs in exactly the fields that the plan named, from and to what it said."""
    for line in plan.report["takaras"]:
        name = line["name"]
        if line["action"] == "create":
            assert name not in before
            assert name in after
        elif name in before:
            was, is_now = before[name], after[name]
            told = {change["field"]: (change["old"], change["new"]) for change in line["changes"]}
            differs = written(was, is_now)
            assert {path for path in differs if not _covered(path, told)} == set()
            assert {path for path in told if not any(_covered(one, {path: None}) for one in differs)} == set()
            assert all(told[path] == values for path, values in differs.items() if path in told)
            moved = was["metadata"]["generation"] != is_now["metadata"]["generation"]
            assert line["rollout"] == (was["spec"]["template"] != is_now["spec"]["template"])
            went = "deletionTimestamp" in is_now["metadata"]  # that moves it as well
            assert went or moved == any(path.startswith("spec") for path in told)


def _covered(path: str, told: dict[str, Any]) -> bool:
    """Whether this value, or the thing that it is a part of, is among those that were told."""
    return any(path == field or path.startswith((f"{field}.", f"{field}[")) for field in told)
