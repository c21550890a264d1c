"""The deadline in the middle of 120 Takaras, again and again: a slow server, and who is handled when.

Time is the requests': each takes a second of a clock of the test's own, one after the other, so every pass comes
exactly as far as the formula says.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING

import pytest

from takara_sync import Policy, sync_once
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.loop import Runner
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.report import Exit
from tests.rivals.others import set_image
from tests.rivals.passes import START, Passes
from tests.support.takaras import takara
from tests.support.transport import in_process
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from takara_sync import Report
    from takara_sync.deadline import Deadline
    from takara_sync.kube.response import Request, Response
    from takara_sync.objects import Key
    from tests.contract.simulated import Simulated

FLEET = 120
SECONDS = 40.0  # of a pass
RESERVE = 0.3  # of a pass, in which nothing is begun
TOO_MANY = 200  # passes
LISTS = 2  # ahead of the first write; that of the pods is the third


def begun_in(seconds: float) -> int:
    """How many writes a pass begins: none in the reserve."""
    return int((1 - RESERVE) * seconds - LISTS)


def finished_in(seconds: float, begun: int) -> int:
    """How many statuses it then writes: from the list of the pods on to the end."""
    return min(begun, ceil(seconds - LISTS - begun - 1))


class Passing(Stop):
    """Passes of the command's own loop, or of `once` again and again, over that server; each report is kept."""

    def __init__(self, simulated: Simulated, world: World) -> None:
        super().__init__()
        user = world.server.user()
        handle = simulated.simulator.store.handle
        self.cluster = in_process(handle, self._a_second_each, user.token, namespaces=[world.namespace])
        self.seconds = 0.0
        self.world = world
        self.reports: list[Report] = []
        self.enough: Callable[[], bool] = lambda: self.whole
        self.ahead: Callable[[], object] = lambda: None
        settings = Settings(output="json", pass_timeout=SECONDS)
        self.runner = Runner(settings, self, Heartbeat(None), self._pass, lambda: self.seconds)

    def _a_second_each(self, _: Request, send: Callable[[], Response]) -> Response:
        try:
            return send()
        finally:
            self.seconds += 1.0

    def _pass(self, policy: Policy, deadline: Deadline, start: Key | None) -> Report:
        self.ahead()
        report = sync_once(self.cluster, policy, workers=1, seconds=deadline, start=start, now=self._now)
        self.reports.append(report)
        return report

    def _now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def wait(self, seconds: float) -> None:
        self.seconds += max(seconds, 0.0)
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


def finished(report: Report) -> list[str]:
    """Whose status was written in this pass."""
    return [outcome.key.name for outcome in report.outcomes if outcome.status_written]


# ------------------------------------------------------------------ new ones


A_PASS = finished_in(SECONDS, begun_in(SECONDS))


def check_a_new_fleet(passing: Passing) -> None:
    """Each pass but the last finishes so many at least, and what is finished is unchanged for the next one."""
    assert passing.whole
    assert all(len(finished(report)) >= A_PASS for report in passing.reports[:-1])
    assert len({name for report in passing.reports for name in finished(report)}) == FLEET
    assert len(passing.reports) <= ceil(FLEET / A_PASS)


def test_a_new_fleet_is_there_within_the_predicted_number_of_passes(
    passing: Passing, count: Callable[[str, int], None]
) -> None:
    passing.runner.loop(1.0)
    check_a_new_fleet(passing)
    count("passes of a slow loop for a fleet of new Takaras", len(passing.reports))


def test_once_again_and_again_from_anywhere(passing: Passing, count: Callable[[str, int], None]) -> None:
    """Wherever a pass begins by its clock, what others did costs it nothing: it comes as far in what is left."""
    while not passing.whole and len(passing.reports) < TOO_MANY:
        passing.runner.once()
    check_a_new_fleet(passing)
    count("passes of a slow once for a fleet of new Takaras", len(passing.reports))


# ------------------------------------------------------------------ a fleet that never comes to rest


def check_a_restless_fleet(passing: Passing, rounds: int) -> None:
    """Whoever is repaired has its image taken again at once: a pass finishes so many of them, in turn.

    So within the predicted number of passes each of them is repaired, with its status, round after round.
    """
    world, restless = passing.world, [f"t{number:03}" for number in range(FLEET)]
    Passes(world).sync()  # the controllers stand still: no status changes but by what the passes do
    for name in restless:
        set_image(world, "nginx", name=name)
    passing.ahead = lambda: take_again(passing)
    predicted = ceil(len(restless) / A_PASS)
    passing.enough = lambda: len(passing.reports) >= rounds * predicted
    passing.runner.loop(1.0)
    for number in range(rounds):
        done = {
            name
            for report in passing.reports[number * predicted : (number + 1) * predicted]
            for name in finished(report)
        }
        assert sorted(set(restless) - done) == []


def take_again(passing: Passing) -> None:
    for outcome in passing.reports[-1].outcomes if passing.reports else ():
        if outcome.result == "updated":
            set_image(passing.world, "nginx", name=outcome.key.name)


def test_nobody_starves_in_a_fleet_that_never_comes_to_rest(
    passing: Passing, long: bool, count: Callable[[str, int], None]
) -> None:
    check_a_restless_fleet(passing, rounds=50 if long else 1)
    count("Takaras of a restless fleet that all had their turn", FLEET)
