"""One Takara within a pass: what a write met, and then. The cases are in met.py, as rows of the two tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from takara_sync.deadline import Deadline
from takara_sync.kube.api import Response
from tests.support.takaras import takara
from tests.unit.build import TEMPLATE, condition
from tests.unit.met import ACTING, WRITING, Case, drifted
from tests.unit.world import Call, World, failure, result, results


def check(case: Case) -> World:
    world = case.start()
    case.meet(world)
    report = world.sync(case.policy)
    (outcome,) = report.takaras
    assert world.verbs() == case.verbs
    assert (str(outcome.result), int(report.exit), outcome.reason) == case.outcome
    assert tuple((c.old, c.new) for c in outcome.changes if c.field == "spec.replicas") == case.sizes
    assert (world.replicas() if world.items("Deployment") else 0) == case.replicas
    assert sum(world.logged.values()) == len(world.changed)
    return world


@pytest.mark.parametrize("case", ACTING, ids=lambda case: case.name)
def test_what_a_write_to_a_deployment_met(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("case", WRITING, ids=lambda case: case.name)
def test_what_a_status_update_met(case: Case) -> None:
    """It never writes a Deployment, and the next passes settle what is left."""
    world = check(case)
    world.calm()
    if world.items("Takara") and world.sync().takaras[0].result in ("updated", "unchanged"):
        assert (world.replicas(), world.status()["observedGeneration"]) == (
            world.get("Takara")["spec"]["size"],
            world.get("Takara")["metadata"]["generation"],
        )
        assert (result(world.sync()), world.writes) == ("unchanged", [])


# ------------------------------------------------------------------ what the cases do not show


def test_a_size_read_before_the_deployment_is_never_applied_to_it() -> None:
    """Another pass applies a newer size between the two reads: one conflict more, and the newer size stays."""
    world, sizes = drifted(), [0]
    world.before("apply", lambda: world.scale(replicas=8))
    world.before("get takara", lambda: (world.edit(size=5), world.scale(replicas=5, manager="takara-sync")))
    meet = world.around

    def around(call: Call, send: Callable[[], Response]) -> Response:
        response = meet(call, send)
        sizes.append(world.replicas())
        return response

    world.around = around
    assert world.sync().exit == 0
    assert sizes[sizes.index(5) :] == [5] * (len(sizes) - sizes.index(5))


def test_a_rejection_is_in_the_status_once_and_cleared_by_the_next_success() -> None:
    world = drifted()
    world.settle()
    world.instead("apply", failure(403, "Forbidden", "no\nquota"))
    assert world.sync().takaras[0].status_written
    assert [world.reason("one", kind) for kind in ("Ready", "Stalled")] == ["ApplyFailed"] * 2
    assert "no quota" in world.status()["conditions"][0]["message"]
    assert len(world.status()["nodes"]) == 7
    world.sync()
    assert world.writes == ["apply"]
    world.calm()
    assert world.sync().exit == 0
    assert [each["type"] for each in world.status()["conditions"]] == ["Ready"]


def test_conflicts_cost_one_takara_and_a_deadline_leaves_no_status() -> None:
    world, seconds = drifted(), [0.0]
    world.create("ns", takara("two", 3))
    world.before("apply", lambda: (world.scale(replicas=8), seconds.__setitem__(0, 51)))
    report = world.sync(seconds=Deadline(50, lambda: seconds[0]))
    assert (results(report), report.exit) == ({"one": "failed", "two": "not reached"}, 4)
    assert not any(outcome.status_written for outcome in report.takaras)


def test_conditions_of_others_are_kept_in_a_second_patch() -> None:
    world = drifted()
    world.before("write status", lambda: world.set_status("one", {"conditions": [condition("Mine", "True", "X")]}))
    world.sync()
    assert [each["type"] for each in world.status()["conditions"]] == ["Ready", "Mine"]


def test_a_bug_while_writing_a_status_costs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(takara("a", 3), takara("b", 3, template=TEMPLATE))
    monkeypatch.setattr("takara_sync.reconcile._records", lambda *_: 1 / 0)
    world.before("write status", lambda: world.edit("a", size=4))
    assert [(one.bug, str(one.result)) for one in world.sync().takaras] == [(True, "failed"), (False, "invalid")]
