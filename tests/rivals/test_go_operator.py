"""The Go operator was not stopped: it goes on beside us, over the same Takaras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

from tests.rivals.others import GoOperator
from tests.rivals.passes import Passes, of_deployments, of_statuses
from tests.support.takaras import takara
from tests.world import World

ROUNDS = 6


class Both:
    """Its reconcile loop and our passes in turn; `kept` is what no pod may notice."""

    def __init__(self, world: World, lists: Literal["by name", "anyhow"] = "by name") -> None:
        self.world = world
        self.passes = Passes(world)
        self.operator = GoOperator(world, "one", lists)

    def run(self, rounds: int = ROUNDS) -> list[tuple[int, int, int]]:
        """What was written in each round: by it, by us to the Deployment, and by us to the status."""
        done = []
        for _ in range(rounds):
            before = self.operator.writes
            self.operator.reconcile()
            writes = self.passes.sync()
            done.append((self.operator.writes - before, len(of_deployments(writes)), len(of_statuses(writes))))
            self.world.server.make_ready(self.world.namespace, "one")
        return done

    @property
    def kept(self) -> tuple[str, int, list[str]]:
        """The uid, the template's generation by way of the ReplicaSet's hash, and the pods."""
        metadata = self.world.deployment("one")["metadata"]
        return metadata["uid"], metadata["generation"], self.world.pods("one")


def check_they_settle(both: Both, first: str) -> None:
    """From the first one's pods on none is touched, and by the sixth round nobody writes any more.

    The Go operator finds the size right, and its list of pods equals ours once they run.
    """
    world = both.world
    world.create(takara("one", 3))
    begin = both.operator.reconcile if first == "it" else both.passes.sync
    begin()
    world.server.make_ready(world.namespace, "one")
    begin()
    before = both.kept
    rounds = both.run()
    assert rounds[-2:] == [(0, 0, 0), (0, 0, 0)], rounds
    both.passes.settle()  # we alone: the operator has been stopped
    assert both.kept == before
    assert world.status("one")["nodes"] == world.pods("one")
    assert len(before[2]) == 3
    assert world.condition("one", "Ready")["status"] == "True"


@pytest.mark.parametrize("first", ["it", "we"])
def test_they_settle_and_no_pod_is_touched(world: World, first: str) -> None:
    check_they_settle(Both(world), first)


def test_a_new_size_is_changed_once_whoever_is_faster(world: World) -> None:
    both = Both(world)
    world.create(takara("one", 2))
    both.run(2)
    for size, faster in ((4, both.operator.reconcile), (1, both.passes.sync), (3, both.operator.reconcile)):
        generation = world.deployment("one")["metadata"]["generation"]
        world.merge("one", {"spec": {"size": size}})
        faster()
        both.run(3)
        assert world.deployment("one")["spec"]["replicas"] == size
        assert world.deployment("one")["metadata"]["generation"] == generation + 1
        assert both.run(1) == [(0, 0, 0)]


def test_an_operator_that_lists_the_pods_anyhow_costs_a_status_a_pass_and_no_pod(
    world: World, count: Callable[[str, int], None]
) -> None:
    """Its cache has no order, so it finds its list to differ again and again, and its PUT drops our record.

    Then each pass applies what is there already, and tells all anew: one write each, no change, never a restart.
    It ends when the Go operator does; until then each pass says so.
    """
    both = Both(world, "anyhow")
    world.create(takara("one", 3))
    both.run(2)
    before, fights = both.kept, 0
    for _ in range(ROUNDS):
        writes, ours = both.operator.writes, len(both.passes.writes)
        both.operator.reconcile()
        (outcome,) = both.passes.once().takaras
        overwrote = both.operator.writes > writes
        assert len(both.passes.writes) - ours <= 2 * overwrote
        assert (str(outcome.result), outcome.reason) == ("unchanged", "StatusOverwritten" if overwrote else "")
        fights += overwrote
    assert both.kept == before
    assert fights >= 1
    count("statuses that an operator without order overwrote, each named", fights)
    both.passes.settle()
    assert both.kept == before
    assert world.status("one")["nodes"] == world.pods("one")
