"""What comes back from an apply with another value than it was sent with: named once, and not tried in every pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from takara_sync.plan import Policy
from tests.support.takaras import takara
from tests.unit.build import TEMPLATE, Json
from tests.unit.world import World, result

Mutate = Callable[[Json], Any]


def under(mutate: Mutate, *takaras: Json) -> World:
    """A world where an admission policy changes the spec of every Deployment."""
    world = World(*takaras)

    def admitted(new: Json) -> Json:
        if new["kind"] == "Deployment":
            mutate(new["spec"])
        return new

    world.store.admission.append(admitted)
    return world


def at_least_two(spec: Json) -> None:
    spec["replicas"] = max(2, spec["replicas"])


def from_a_mirror(spec: Json) -> None:
    (container,) = spec["template"]["spec"]["containers"]
    container |= {"image": "mirror/" + container["image"].removeprefix("mirror/")}


def test_a_policy_that_sets_other_replicas_is_named_and_costs_no_write_in_every_pass() -> None:
    world = under(at_least_two, takara("one", 1))
    both = ["apply", "write status"]
    steps = [
        # minutes, result, writes, how often it was tried
        (0, "created", ["create", "write status"], 1),
        (1, "blocked", [], 1),
        (9.9, "blocked", [], 1),
        (10, "unchanged", both, 2),
        (29.9, "blocked", [], 2),
        (30, "unchanged", both, 3),
        (31, "blocked", [], 3),
    ]
    for minutes, expected, writes, times in steps:
        world.minutes = minutes
        report = world.sync()
        assert (result(report), report.exit, report.takaras[0].reason) == (expected, 6, "ChangedOnAdmission")
        assert (world.writes, world.changed) == (writes, world.changed if minutes == 0 else [])
        assert [world.reason("one", kind) for kind in ("Ready", "Stalled")] == ["ChangedOnAdmission"] * 2
        record = world.status()["deployment"]["changedOnAdmission"]
        assert (record["field"], record.get("times", 1)) == ("spec.replicas", times)
    world.edit(size=2)
    assert (result(world.sync()), world.reason()) == ("unchanged", "Progressing")
    assert "changedOnAdmission" not in world.status()["deployment"]
    assert (result(world.sync()), world.writes) == ("unchanged", [])


def test_a_policy_that_is_gone_is_noticed_at_the_next_try() -> None:
    world = under(at_least_two, takara("one", 1))
    world.sync()
    world.store.admission.clear()
    world.minutes = 10
    report = world.sync()
    assert (result(report), report.exit, world.replicas(), world.reason()) == ("updated", 0, 1, "Progressing")


def test_only_real_changes_are_reported() -> None:
    """The image came back changed: it is not reported as changed again by each later apply."""
    world = under(from_a_mirror, takara("one", 3))
    (created,) = world.sync().takaras
    assert (created.reason, "image" in created.message) == ("ChangedOnAdmission", True)
    world.edit(size=5)
    world.minutes = 1
    (outcome,) = world.sync().takaras
    assert [(c.field, c.old, c.new) for c in outcome.changes] == [("spec.replicas", 3, 5)]
    assert (str(outcome.result), outcome.reason, outcome.needs_a_person) == ("updated", "ChangedOnAdmission", "blocked")
    world.scale(replicas=9)
    (outcome,) = world.sync().takaras
    assert [(c.field, c.old, c.new) for c in outcome.changes] == [("spec.replicas", 9, 5)]


def test_a_service_account_that_is_asked_for_no_longer_goes() -> None:
    world = World(takara("one", 3, template={"spec": TEMPLATE["spec"] | {"serviceAccountName": "robot"}}))
    policy = Policy(allow_templates=True)
    assert (world.sync(policy).exit, world.sync(policy).counts) == (0, {"unchanged": 1})
    world.edit(template={"spec": {"serviceAccountName": None}})
    (outcome,) = world.sync(policy).takaras
    pod = "spec.template.spec"
    assert {(c.field, c.old, c.new) for c in outcome.changes} == {
        (f"{pod}.serviceAccountName", "robot", None),
        (f"{pod}.serviceAccount", "robot", None),
    }
    assert not {"serviceAccountName", "serviceAccount"} & set(world.get("Deployment")["spec"]["template"]["spec"])
    assert (world.sync(policy).counts, world.writes) == ({"unchanged": 1}, [])
