"""How many requests a pass costs, and that each fault, once on every write, costs nothing but a request more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from takara_sync.errors import Retryable
from takara_sync.kube.api import Response
from takara_sync.report import CHANGED
from tests.support.takaras import takara
from tests.unit.world import WRITES, Call, World, come, failure, result, results

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


FAULTS: dict[str, tuple[bool, Response | Exception]] = {  # whether the write is executed, and what comes of it
    "409": (False, failure(409, "Conflict")),
    "429": (False, failure(429, "TooManyRequests")),
    "503": (False, failure(503, "ServiceUnavailable")),
    "503, executed": (True, failure(503, "ServiceUnavailable")),
    "500 without a reason": (False, failure(500, message="etcdserver: leader changed")),
    "no response": (False, Retryable("lost", timed_out=True)),
    "no response, executed": (True, Retryable("lost", timed_out=True)),
    "refused connection": (False, Retryable("refused", executed=False, refused=True)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_once_on_every_write_is_over_in_the_same_pass(fault: str) -> None:
    world = World(*(takara(name, 3) for name in NAMES[1:3]))
    world.sync()
    world.minutes = 1
    world.scale("drifted")
    world.create("ns", takara("created", 3), takara("legacy", 3))
    world.deploy("legacy", replicas=5)
    met: set[Call] = set()

    def around(call: Call, send: Callable[[], Response]) -> Response:
        if call in met or call.verb not in WRITES:
            return send()
        met.add(call)
        executed, outcome = FAULTS[fault]
        _ = executed and send()
        return come(outcome)

    world.around = around
    report = world.sync()
    expected = {"created": "created", "drifted": "updated", "kept": "unchanged", "legacy": "taken over"}
    assert (results(report), report.exit) == (expected, 0)
    assert (
        world.logged == Counter(world.changed) == Counter(one.key for one in report.outcomes if one.result in CHANGED)
    )
    found = {one.key.name: [(c.old, c.new) for c in one.changes if c.field == SIZE] for one in report.outcomes}
    assert found == {"created": [], "drifted": [(7, 3)], "kept": [], "legacy": [(5, 3)]}
    assert {world.replicas(name) for name in NAMES} == {3}
    world.calm()
    assert (world.sync().counts, world.writes) == ({"unchanged": 4}, [])
