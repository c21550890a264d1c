"""How many requests a pass costs, and that each fault, once on every write, costs nothing but a request more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.support.takaras import takara
from tests.unit.world import World, result

LISTS = ["list deployments", "list takaras", "list pods"]
SIZE = "spec.replicas"
NAMES = ("created", "drifted", "kept", "legacy")


def counts(world: World) -> Counter[str]:
    return Counter(call.verb for call in world.calls)


@pytest.mark.parametrize("size", [1, 40])
def test_a_cold_start_is_an_apply_and_a_status_write_for_each_takara(size: int) -> None:
    world = World(*(takara(f"t{number}", 3) for number in range(size)))
    assert world.sync(workers=8).counts == {"created": size}
    assert counts(world) == dict.fromkeys(LISTS, 1) | {"create": size, "write status": size}
    world.settle()
    world.sync()
    assert world.sync().counts == {"unchanged": size}
    assert [call.verb for call in world.calls] == LISTS


def test_a_contest_costs_a_write_only_where_something_changes() -> None:
    """Each step: minutes, what happens, the result, the replicas afterwards, the reason of Ready, the writes."""
    world = World(takara("one", 3))
    world.sync()
    both, contested = ["apply", "write status"], "ReplicasContested"
    steps: list[tuple[float, Callable[[], object], str, int, str, list[str]]] = [
        (1, lambda: world.scale(replicas=7), "updated", 3, "Progressing", both),
        (2, lambda: world.scale(replicas=8), "contested", 8, contested, ["write status"]),
        (3, lambda: None, "contested", 8, contested, []),
        (4, lambda: world.scale(replicas=9), "contested", 9, contested, []),
        (5, world.set_image, "updated", 9, contested, both),
        (6, lambda: None, "contested", 9, contested, []),
        (11, lambda: None, "updated", 3, "Progressing", both),
        (12, lambda: world.scale(replicas=7), "contested", 7, contested, ["write status"]),
        (30.9, lambda: None, "contested", 7, contested, []),
        (31, lambda: None, "updated", 3, "Progressing", both),
        (32, lambda: world.scale(replicas=7), "contested", 7, contested, ["write status"]),
        (33, lambda: world.edit(size=4), "updated", 4, "Progressing", both),
        (34, lambda: None, "unchanged", 4, "Progressing", []),
    ]
    for minutes, happens, *expected in steps:
        world.minutes = minutes
        happens()
        assert [result(world.sync()), world.replicas(), world.reason(), world.writes] == expected
