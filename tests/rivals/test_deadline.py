"""Passes that the deadline cuts, over 120 Takaras that others change again and again: each of them gets its turn.

Time is the requests': each takes a second of a clock of the test's own, one after the other, so every pass comes
exactly as far as the formula says.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from math import ceil

import pytest

from takara_sync import Policy, Report, sync_once
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.loop import Runner
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.deadline import Deadline
from takara_sync.kube.response import Request, Response
from takara_sync.objects import Key
from tests.contract.simulated import Simulated
from tests.rivals.others import set_image
from tests.rivals.passes import START, Passes
from tests.support.takaras import takara
from tests.support.transport import in_process
from tests.world import World

FLEET = [f"t{number:03}" for number in range(120)]
SECONDS = 40.0  # of a pass
RESERVE = 0.3  # of a pass, in which nothing is begun
LISTS = 2  # ahead of the first write; that of the pods is the third
BEGUN = int((1 - RESERVE) * SECONDS - LISTS)  # writes of Deployments in a pass
FINISHED = min(BEGUN, ceil(SECONDS - LISTS - BEGUN - 1))  # statuses in a pass, from the list of the pods to the end
ROUND = ceil(len(FLEET) / FINISHED)  # passes in which each Takara has its turn


class Restless(Stop):
    """Passes of the command's own loop, `rounds` rounds of them. Each Deployment that is repaired is changed again."""

    def __init__(self, simulated: Simulated, world: World) -> None:
        super().__init__()
        store, user = simulated.simulator.store, world.server.user()
        self.cluster = in_process(store.handle, self._a_second_each, user.token, namespaces=[world.namespace])
        self.world, self.seconds, self.rounds = world, 0.0, 1
        store.now = self._now  # a repair within the second of the apply before it leaves the status as it was
        self.reports: list[Report] = []

    def loop(self, rounds: int) -> None:
        self.rounds = rounds
        settings = Settings(output="json", pass_timeout=SECONDS)
        Runner(settings, self, Heartbeat(None), self._pass, lambda: self.seconds).loop(1.0)

    def _a_second_each(self, _: Request, send: Callable[[], Response]) -> Response:
        self.seconds += 1.0
        return send()

    def _pass(self, policy: Policy, deadline: Deadline, start: Key | None) -> Report:
        report = sync_once(self.cluster, policy, workers=1, seconds=deadline, start=start, now=self._now)
        self.reports.append(report)
        for outcome in report.takaras:
            if outcome.result == "updated":
                set_image(self.world, "nginx", name=outcome.key.name)
        return report

    def _now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def wait(self, seconds: float) -> None:
        self.seconds += max(seconds, 0.0)
        if len(self.reports) >= self.rounds * ROUND:
            self.ask("the test")


@pytest.fixture
def restless(simulated: Simulated, arena: World) -> Restless:
    """The fleet has converged, and the controllers stand still; then every image is changed."""
    arena.create(*(takara(name, 1) for name in FLEET))
    Passes(arena).sync()
    for name in FLEET:
        set_image(arena, "nginx", name=name)
    return Restless(simulated, arena)


def check_nobody_starves(restless: Restless, rounds: int) -> None:
    """In each round each Takara is repaired, and its status is written."""
    restless.loop(rounds)
    for number in range(rounds):
        reports = restless.reports[number * ROUND : (number + 1) * ROUND]
        outcomes = [outcome for report in reports for outcome in report.takaras]
        done = {outcome.key.name for outcome in outcomes if outcome.status_written}
        assert sorted(set(FLEET) - done) == []


def test_nobody_starves_in_a_fleet_that_never_comes_to_rest(
    restless: Restless, long: bool, count: Callable[[str, int], None]
) -> None:
    check_nobody_starves(restless, rounds=50 if long else 1)
    count("Takaras of a restless fleet that all had their turn", len(FLEET))
