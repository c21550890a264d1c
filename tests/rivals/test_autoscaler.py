"""A HorizontalPodAutoscaler on the owned Deployment, which never gives in."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

import pytest

from takara_sync import work_queue
from takara_sync.kube.response import Request
from tests.rivals.others import HPA, Way, image_of, set_image, take
from tests.rivals.passes import Passes, of_deployments, of_statuses
from tests.support.takaras import takara
from tests.world import GO_OPERATOR, World

SIZE, WANTED = 3, 7
DAY = 24 * 60.0
SECOND = 1 / 60


def tries_within(minutes: float) -> list[float]:
    """When the replicas are taken back: at once, then after 10, 20, 40 ... minutes, at most a day."""
    waits = (min(10.0 * 2**number, 1440.0) for number in range(60))
    return [moment for moment in accumulate(waits, initial=0.0) if moment < minutes]


class Fight:
    """A pass every so many minutes, and ahead of each the autoscaler takes the replicas again."""

    def __init__(self, world: World, way: Way = "scale", manager: str = HPA) -> None:
        self.world, self.way, self.manager = world, way, manager
        self.passes = Passes(world)
        self.flips: list[float] = []
        self.writes: list[Request] = []
        world.create(takara("one", SIZE))
        self.passes.settle()

    def rounds(self, step: float, until: float) -> None:
        """From minute 0 until then; when our own writes changed the replicas is noted."""
        for number in range(round(until / step)):
            self.passes.minutes = number * step
            take(self.world, WANTED, self.manager, self.way)
            writes = self.passes.sync()
            self.writes += writes
            bodies = [request.body for request in of_deployments(writes)]
            if any(isinstance(body, dict) and body["spec"]["replicas"] == SIZE for body in bodies):
                self.flips.append(self.passes.minutes)


def check_a_fight_of(minutes: float, step: float, fight: Fight) -> None:
    """The rule, by count: what is written is a try, what is told of it, and nothing else."""
    fight.rounds(step, minutes)
    tries = tries_within(minutes)
    assert [round(flip, 6) for flip in fight.flips] == tries
    assert len(of_deployments(fight.writes)) == len(tries)
    assert len(of_statuses(fight.writes)) == 2 * len(tries)  # that it is tried, and that it is contested again
    assert len(fight.writes) == 3 * len(tries)
    assert fight.world.deployment("one")["spec"]["replicas"] == WANTED


@pytest.mark.parametrize("way", ["scale", "update"])
def test_two_flips_at_most_then_the_replicas_are_left_to_it(world: World, way: Way) -> None:
    fight = Fight(world, way)

    fight.rounds(SECOND, 8 * SECOND)

    assert fight.flips == [0]
    assert len(of_deployments(fight.writes)) == 1
    assert world.deployment("one")["spec"]["replicas"] == WANTED
    told = world.condition("one", "Ready")
    assert (told["status"], told["reason"]) == ("False", "ReplicasContested")
    for said in (HPA, "spec.size", "autoscaler at Takara one"):
        assert said in told["message"]
    assert [each["type"] for each in world.status("one")["conditions"]] == ["Ready"]
    world.settle()
    fight.passes.sync()  # what the Deployment's controller did with 7 replicas
    world.settle()
    assert [fight.passes.sync() for _ in range(3)] == [[], [], []]


def test_passes_each_second(arena: World, long: bool, count: Callable[[str, int], None]) -> None:
    minutes = 180.0 if long else 10.5
    check_a_fight_of(minutes, SECOND if long else 3 * SECOND, Fight(arena))
    count("minutes of passes beside an autoscaler, a few seconds apart", round(minutes))


def test_days_of_tries(arena: World, long: bool) -> None:
    """0, 10, 30, 70, 150, 310, 630, 1270, 2550 minutes, then a day each: 14 in a week, as the rule predicts."""
    fight = Fight(arena, "update")
    days, step, tries = (7, 1.0, 14) if long else (3, 5.0, 10)
    check_a_fight_of(days * DAY, step, fight)
    assert len(fight.flips) == tries


def test_one_of_a_legacy_name_is_left_alone_too(arena: World) -> None:
    """Its fields are taken over each time that it takes them, but who took the replicas is not forgotten for it."""
    fight = Fight(arena, "update", GO_OPERATOR)
    fight.rounds(SECOND, 60 * SECOND)
    assert fight.flips == [0]
    assert len(of_deployments(fight.writes)) == 4  # twice a take-over and an apply: undone, then left
    assert arena.deployment("one")["spec"]["replicas"] == WANTED
    assert GO_OPERATOR in arena.condition("one", "Ready")["message"]


def test_an_image_is_still_repaired_and_the_replicas_stay_with_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_queue, "BACKOFF_SECONDS", 0.2)  # the Deployment's controller writes after each new image
    fight = Fight(world)
    fight.rounds(SECOND, 3 * SECOND)
    for number in range(3):
        set_image(world, f"nginx:{number}")
        assert_repaired_by_one_apply(fight)
        take(world, WANTED + 1 + number)  # it goes on scaling
        fight.passes.sync()
        assert world.deployment("one")["spec"]["replicas"] == WANTED + 1 + number
    assert world.condition("one", "Ready")["reason"] == "ReplicasContested"
    world.server.make_ready(world.namespace, "one")  # the rollout needs ready pods to come to its end
    fight.passes.settle()


def assert_repaired_by_one_apply(fight: Fight) -> None:
    before = fight.world.deployment("one")["spec"]["replicas"]
    assert len(of_deployments(fight.passes.sync())) == 1
    assert image_of(fight.world) == "busybox"
    assert fight.world.deployment("one")["spec"]["replicas"] == before


def test_a_new_size_or_the_size_that_it_wants_ends_the_contest(world: World) -> None:
    fight = Fight(world)
    fight.rounds(SECOND, 3 * SECOND)
    world.merge("one", {"spec": {"size": 4}})
    fight.passes.sync()
    assert world.deployment("one")["spec"]["replicas"] == 4
    assert world.condition("one", "Ready")["reason"] != "ReplicasContested"
    for _ in range(2):
        take(world, WANTED)
        fight.passes.sync()
    assert world.condition("one", "Ready")["reason"] == "ReplicasContested"
    world.merge("one", {"spec": {"size": WANTED}})
    assert of_deployments(fight.passes.sync()) != []  # the record of the apply is of another size
    assert world.condition("one", "Ready")["reason"] != "ReplicasContested"
    fight.passes.settle()
