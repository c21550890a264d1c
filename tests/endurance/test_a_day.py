"""24 hours of the loop on a fake clock: every pass is on time, and leaves nothing behind in the process."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import psutil

from takara_sync import Policy, Report, sync_once
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.loop import Runner
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.deadline import Deadline
from takara_sync.objects import Key
from takara_sync.report import Exit
from tests.contract.simulated import Simulated
from tests.support.takaras import takara
from tests.support.transport import in_process
from tests.world import World

START = datetime(2030, 3, 31, tzinfo=UTC)
DAY = 24 * 3600
NAMES = [f"one-{number}" for number in range(10)]
EARLY = 60  # passes, after which every cache is filled


class Held(NamedTuple):
    """What this process holds. Connections are looked at where there are some: in test_hundreds_of_passes."""

    objects: int
    memory: int
    threads: int


class Day(Stop):
    """The clock of a loop and of its cluster, on which people do something every hour."""

    def __init__(self, server: Simulated, world: World) -> None:
        super().__init__()
        self.now = 0.0
        self._server, self._world = server, world
        self.began: list[float] = []
        self.held: list[Held] = []
        self._cluster = in_process(
            server.simulator.store.handle, user=server.user().token, namespaces=[world.namespace]
        )
        server.store.now = self.utcnow

    def wait(self, seconds: float) -> None:
        before, self.now = self.now, self.now + seconds
        if self.now // 3600 > before // 3600:
            self._people(int(self.now // 3600))
        if self.now >= DAY:
            self._look()
            self.ask("SIGTERM")

    def utcnow(self) -> datetime:
        return START + timedelta(seconds=self.now)

    def one_pass(self, policy: Policy, deadline: Deadline, start: Key | None) -> Report:
        self.began.append(self.now)
        report = sync_once(self._cluster, policy, seconds=deadline, start=start, now=self.utcnow)
        assert report.exit == Exit.OK, report
        self._server.simulator.controllers.settle()
        if len(self.began) == EARLY:
            self._look()
        self.now += 0.5
        return report

    def _people(self, hour: int) -> None:
        """A new size, a scaled Deployment, a Takara that goes and comes back; the controllers follow."""
        name, other, third = (NAMES[(hour + step) % len(NAMES)] for step in range(3))
        self._world.merge(name, {"spec": {"size": hour % 4}})
        self._world.merge_deployment(other, {"spec": {"replicas": 7}})
        self._world.call("DELETE", self._world.takara_path(third))
        self._world.settle()
        self._world.create(takara(third, 1))

    def _look(self) -> None:
        self._server.store.requests.clear()  # the tests' own record
        gc.collect()
        me = psutil.Process()
        self.held.append(Held(len(gc.get_objects()), me.memory_info().rss, me.num_threads()))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing that pytest would keep of a thousand passes: it would be taken for a leak."""
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def test_a_day_of_passes(tmp_path: Path, long: bool, count: Callable[[str, int], None]) -> None:
    interval = 10 if long else 120
    with Simulated(tmp_path) as server, quiet():
        world = World(server, server.namespace())
        world.create(*(takara(name, 2) for name in NAMES))
        day = Day(server, world)
        code = Runner(Settings(), day, Heartbeat(None), day.one_pass, lambda: day.now).loop(interval)

    assert code == Exit.OK
    assert day.began == [number * interval for number in range(DAY // interval)]
    early, late = day.held
    assert late.objects - early.objects < min(500, len(day.began) - EARLY)  # a leak would be one a pass
    assert late.memory - early.memory < 8 * 2**20
    assert late.threads <= early.threads
    count("passes of a simulated day", len(day.began))
