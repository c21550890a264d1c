"""What --max-changes allows: the plan all or none, and what is decided later within what is left."""

from __future__ import annotations

import pytest

from takara_sync.change_limit import ChangeLimit, check_plan
from takara_sync.errors import TooManyChanges
from takara_sync.objects import Deployment
from takara_sync.plan import Create, Plan, Policy, decide
from tests.support.takaras import takara as manifest_of
from tests.unit.build import NOW, decoded, deployment_json, legacy, takara
from tests.unit.world import World, results


def create(name: str) -> Create:
    return Create(takara(name), {})


def plan(names: str) -> Plan:
    return Plan(tuple(create(name) for name in names))


@pytest.mark.parametrize(
    ("planned", "limit", "asked", "allowed"),
    [
        ("ab", None, "abcd", "abcd"),
        ("ab", 2, "abab", "abab"),
        ("ab", 1, "abc", ""),
        ("ab", 3, "cdab", "cab"),
        ("", 0, "a", ""),
        ("ab", 2, "c", ""),
    ],
    ids=["no limit", "just so many", "one too many: none", "later ones", "none at all", "used up"],
)
def test_what_is_allowed(planned: str, limit: int | None, asked: str, allowed: str) -> None:
    changes = ChangeLimit(plan(planned), limit)
    assert "".join(name for name in asked if changes.allows(create(name))) == allowed
    if set(asked) == set(allowed):
        changes.check()
    else:
        with pytest.raises(TooManyChanges):
            changes.check()


def test_taking_over_without_another_spec_is_no_change() -> None:
    found = decide(takara(), decoded(Deployment, legacy(deployment_json())), Policy(), NOW)
    assert ChangeLimit(Plan((found,)), 0).allows(found)  # type: ignore[arg-type]


def test_the_message_counts_all_and_names_at_most_twenty() -> None:
    names = [f"t{number:04}" for number in range(2000)]
    with pytest.raises(TooManyChanges) as raised:
        check_plan(Plan(tuple(map(create, names))), 5)
    first = ", ".join(f"ns/{name}" for name in names[:20])
    assert raised.value.message == f"2000 changes are needed, 5 allowed; not written: {first} and 1980 more"
    check_plan(plan("abcde"), 5)


@pytest.mark.parametrize(("limit", "code"), [(0, 5), (1, 5), (2, 0)])
def test_a_pass_with_too_many_changes_writes_no_deployment_but_statuses(limit: int, code: int) -> None:
    world = World(*(manifest_of(name, 3) for name in "bc"))
    world.sync()
    world.scale("b")
    world.create("ns", manifest_of("a", 3), manifest_of("d", -1))
    report = world.sync(Policy(max_changes=limit))
    late = {"a": "not reached", "b": "not reached"} if code else {"a": "created", "b": "updated"}
    assert results(report) == late | {"c": "unchanged", "d": "invalid"}
    assert (report.exit or 6, world.reason("d")) == (code or 6, "InvalidSize")
    assert [str(one.reason) for one in report.takaras[:2]] == ["TooManyChanges" if code else ""] * 2
    assert len(world.changed) == (0 if code else 2)
