"""The deadline in the middle of 300 Takaras, again and again: a slow server, and who is handled when.

Time is the requests': each takes a second of a clock of the test's own, one after the other, so every pass comes
exactly as far as the formula says.
"""

from __future__ import annotations

import random
from math import ceil
from typing import TYPE_CHECKING

import pytest

from takara_sync import Deadline, KubeCluster, Policy, sync_once
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.loop import Runner
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.report import Exit
from tests.rivals.others import set_image
from tests.rivals.passes import START, Direct, Passes
from tests.world import World, takara

if TYPE_CHECKING:
    from collections.abc import Callable

    from takara_sync import Report
    from takara_sync.kube.answers import Request
    from tests.contract.simulated import Simulated

FLEET = 300
SECONDS = 100.0  # of a pass
RESERVE = 0.3  # of a pass, in which nothing is begun
TOO_MANY = 200  # passes
LISTS = 2  # ahead of the first write; that of the pods is the third


def begun_in(seconds: float) -> int:
    """How many writes a pass begins: the last one when just the reserve is left."""
    return int((1 - RESERVE) * seconds - LISTS) + 1


def told_in(seconds: float, begun: int) -> int:
    """How many statuses it then tells: from the list of the pods on to the end."""
    return min(begun, ceil(seconds - LISTS - begun - 1))


class SlowServer(Direct):
    """A second for each request."""

    def __init__(self, server: Simulated, world: World) -> None:
        super().__init__(server, world.server.user())
        self.seconds = 0.0

    def send(self, request: Request, deadline: Deadline) -> bytes:
        try:
            return super().send(request, deadline)
        finally:
            self.seconds += 1.0


class Passing(Stop):
    """Passes of the command's own loop, or of `once` again and again, over that server; each report is kept."""

    def __init__(self, simulated: Simulated, world: World) -> None:
        super().__init__()
        self.server = SlowServer(simulated, world)
        self.world = world
        self.reports: list[Report] = []
        self.enough: Callable[[], bool] = lambda: self.whole
        self.ahead: Callable[[], object] = lambda: None
        settings = Settings(output="json", pass_timeout=SECONDS)
        self.runner = Runner(settings, self, Heartbeat(None), self._pass, lambda: self.server.seconds)

    def _pass(self, deadline: Deadline, offset: int) -> Report:
        self.ahead()
        cluster = KubeCluster(self.server, namespaces=[self.world.namespace], deadline=deadline)
        self.reports.append(sync_once(cluster, Policy(), workers=1, offset=offset, now=lambda: START))
        return self.reports[-1]

    def wait(self, seconds: float) -> None:
        self.server.seconds += max(seconds, 0.0)
        if self.enough() or len(self.reports) >= TOO_MANY:
            self.ask("the test")

    @property
    def whole(self) -> bool:
        """Whether the last pass went to its end."""
        return bool(self.reports) and self.reports[-1].exit == Exit.OK


@pytest.fixture
def passing(simulated: Simulated, arena: World) -> Passing:
    for number in range(FLEET):
        arena.create(takara(f"t{number:03}", 1))
    return Passing(simulated, arena)


def told(report: Report) -> list[str]:
    """Whose status was written in this pass."""
    return [outcome.key.name for outcome in report.outcomes if outcome.told]


# ------------------------------------------------------------------ 300 new ones


A_PASS = told_in(SECONDS, begun_in(SECONDS))


def check_a_new_fleet(passing: Passing) -> None:
    """Each pass but the last tells so many at least, and what is told is unchanged for the next one."""
    assert passing.whole
    assert all(len(told(report)) >= A_PASS for report in passing.reports[:-1])
    assert len({name for report in passing.reports for name in told(report)}) == FLEET
    assert len(passing.reports) <= ceil(FLEET / A_PASS)


def test_a_new_fleet_is_there_within_the_predicted_number_of_passes(
    passing: Passing, count: Callable[[str, int], None]
) -> None:
    passing.runner.loop(1.0)
    check_a_new_fleet(passing)
    count("passes of a slow loop for 300 new Takaras", len(passing.reports))


def test_once_again_and_again_from_anywhere(
    passing: Passing, seed: int, monkeypatch: pytest.MonkeyPatch, count: Callable[[str, int], None]
) -> None:
    """Wherever a pass begins, what others told costs it nothing: it comes as far in what is left."""
    drawn = random.Random(seed)  # noqa: S311 - repeatable trials
    monkeypatch.setattr("takara_sync.cli.loop.random.randrange", drawn.randrange)
    while not passing.whole and len(passing.reports) < TOO_MANY:
        passing.runner.once()
    check_a_new_fleet(passing)
    count("passes of a slow once for 300 new Takaras", len(passing.reports))


# ------------------------------------------------------------------ a fleet that never comes to rest

BEGUN = begun_in(SECONDS)
RESTLESS = {
    "all of them": range(FLEET),
    # What a pass goes through, those at rest included, is just half the fleet: to begin the next one so much further
    # would be to begin at one of two places for ever.
    "so many that half a fleet is gone through": range(FLEET // 2 + BEGUN),
}


def check_a_restless_fleet(passing: Passing, restless: list[str], rounds: int) -> None:
    """Whoever is repaired has its image taken again at once: a pass finishes so many of them, in turn.

    So within the predicted number of passes each of them is repaired and told, round after round.
    """
    world = passing.world
    Passes(world).sync()  # the controllers stand still: nothing is told but what the passes do
    for name in restless:
        set_image(world, "nginx", name=name)
    passing.ahead = lambda: take_again(passing)
    predicted = ceil(len(restless) / A_PASS)
    passing.enough = lambda: len(passing.reports) >= rounds * predicted
    passing.runner.loop(1.0)
    for number in range(rounds):
        finished = {
            name for report in passing.reports[number * predicted : (number + 1) * predicted] for name in told(report)
        }
        assert sorted(set(restless) - finished) == []


def take_again(passing: Passing) -> None:
    for outcome in passing.reports[-1].outcomes if passing.reports else ():
        if outcome.result == "updated":
            set_image(passing.world, "nginx", name=outcome.key.name)


@pytest.mark.parametrize("numbers", RESTLESS.values(), ids=RESTLESS.keys())
def test_nobody_starves_in_a_fleet_that_never_comes_to_rest(
    passing: Passing, numbers: range, long: bool, count: Callable[[str, int], None]
) -> None:
    check_a_restless_fleet(passing, [f"t{number:03}" for number in numbers], rounds=5 if long else 1)
    count("Takaras of a restless fleet that all had their turn", len(numbers))
