"""How far a pass is: each step with its total; who gives no callback pays nothing."""

from __future__ import annotations

import msgspec
import pytest

from takara_sync.kube.decode import left_out
from takara_sync.plan import Policy
from takara_sync.sync import plan_once
from takara_sync.work_queue import DONE, Step, counted
from tests.unit.build import takara_json
from tests.unit.world import World, failure

Told = list[tuple[str, int, int | None]]


def told_of(world: World, policy: Policy = Policy()) -> Told:  # noqa: B008 - frozen
    told: Told = []
    world.sync(policy, progress=lambda *step: told.append(step))
    return told


def test_writes_and_statuses_have_their_totals() -> None:
    world = World(*(takara_json(name) for name in ("one", "two", "three")))
    writes, statuses = ([(f"writing {what}", done, 3) for done in (1, 2, 3)] for what in ("Deployments", "statuses"))
    assert told_of(world) == [*writes, *statuses]
    assert told_of(world) == [], "a settled pass writes nothing"


def test_what_is_tried_again_counts_once() -> None:
    world = World(takara_json("one"))
    world.instead("create", failure(429), times=2)
    assert [step for step in told_of(world) if "Deployments" in step[0]] == [("writing Deployments", 1, 1)]


def test_deployments_that_are_read_by_name_are_counted() -> None:
    told: Told = []
    world = World(*(takara_json(name) for name in ("one", "two")))
    plan_once(world.cluster, now=world.now, progress=lambda *step: told.append(step))
    assert told == [("reading Deployments by name", number, 2) for number in (1, 2)]


def test_without_a_callback_the_step_is_the_same() -> None:
    def step(_: object) -> Step:
        return DONE

    assert counted(step, None, "", 1) is step


@pytest.mark.parametrize(
    ("metadata", "left"),
    [({}, 0), ({"continue": ""}, 0), ({"continue": "x"}, None), ({"continue": "x", "remainingItemCount": 7}, 7)],
)
def test_how_many_items_are_left(metadata: dict[str, object], left: int | None) -> None:
    assert left_out(msgspec.json.encode({"kind": "PodList", "metadata": metadata, "items": []})) == left
    assert left_out(b"{") is None
