"""The process is killed at each of its requests in turn: the next pass puts right whatever it left behind."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from tests.crash.process import KILLS, Kind, Point
from tests.crash.simulation import Simulation
from tests.crash.situations import BY_NAME, SITUATIONS, Situation, drifted_fleet
from tests.crash.survival import Story, Tell, Trial, survived, told
from tests.crash.transient import done_all_the_same, troubles

Count = Callable[[str, int], None]
Points = Sequence[tuple[int, Point]]

COUNTED = "crash points survived, simulator"


@pytest.mark.parametrize("situation", SITUATIONS, ids=[each.name for each in SITUATIONS])
def test_each_call_of_the_pass(tell: Tell, situation: Situation, draw: random.Random, long: bool, count: Count) -> None:
    """Killed before it, and when it is executed; then what else can become of a request, and what a pass gets over."""
    simulation, story = tell(situation)
    each = [(index, point) for index, point in story.points(KILLS) if index == 0]
    assert len(each) == len(KILLS) * len(story.passes[0].calls)
    count(COUNTED, _all_survived(simulation, story, each))
    count(COUNTED, _all_survived(simulation, story, _late_and_lost(story)))
    later = [(index, point) for index, point in story.points(list(Kind)) if index > 0]
    count(COUNTED, _all_survived(simulation, story, later if long else draw.sample(later, min(4, len(later)))))
    for process in [] if situation.crowd else troubles(story):
        done_all_the_same(simulation, story, process)
        count("passes that got over transient failures", 1)
    count(COUNTED, _again_and_again(simulation, draw, 60 if long else 1))


def _all_survived(simulation: Simulation, story: Story, points: Points, workers: int = 1) -> int:
    for index, point in points:
        survived(simulation, story, index, point, workers)
    return len(points)


def _late_and_lost(story: Story) -> Points:
    """A write that comes when all is over; a write whose answer is lost, while the process lives on."""
    calls = story.passes[0].calls
    points = [(index, point) for index, point in story.points([Kind.LATE, Kind.ALIVE]) if index == 0]
    return [(index, point) for index, point in points if calls[point.number].writes]


def _again_and_again(simulation: Simulation, draw: random.Random, trials: int) -> int:
    """Stopped two to five times in a row, while the controllers go on or not; returns how often in all."""
    simulation.back_to(simulation.start)
    simulation.settle()
    simulation.start = simulation.moment()
    story, stops = told(simulation), 0
    goes_on: list[Callable[[], object]] = [simulation.settle, simulation.tick, lambda: None]
    for _ in range(trials):
        trial, times = Trial(simulation, story), draw.randint(2, 5)
        for _ in range(times):
            trial.stopped_or_not(Point(draw.randrange(len(story.passes[0].calls)), draw.choice(KILLS)))
            draw.choice(goes_on)()
        trial.until_settled()
        trial.ends_as_told(more=times)
        stops += times
    return stops


@pytest.mark.parametrize("situation", [BY_NAME["take over"], drifted_fleet(1)], ids=lambda one: one.name)
def test_many_calls_in_flight(tell: Tell, situation: Situation, draw: random.Random, long: bool, count: Count) -> None:
    """Which call has which number is the threads' to say."""
    simulation, story = tell(situation)
    points = [(index, point) for index, point in story.points((*KILLS, Kind.ALIVE)) if index == 0]
    chosen = draw.choices(points, k=400 if long else 12)
    count(COUNTED, _all_survived(simulation, story, chosen, workers=16))
    if long:
        count(COUNTED, _all_survived(simulation, story, points))
