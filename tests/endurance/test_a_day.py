"""24 hours of the loop on a fake clock: every pass is on time, writes only what somebody caused, and leaves nothing."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from takara_sync import Policy, Report, sync_once
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.loop import Runner
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.report import Exit
from tests.contract.simulated import Simulated
from tests.support.takaras import takara
from tests.support.transport import in_process
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from takara_sync.deadline import Deadline
    from takara_sync.objects import Key
    from tests.server import User

START = datetime(2030, 3, 31, tzinfo=UTC)
DAY = 24 * 3600
NAMES = [f"one-{number}" for number in range(10)]


class Day(Stop):
    """The clock of a loop and of its cluster, on which people do something every hour."""

    def __init__(self, world: World, user: User) -> None:
        super().__init__()
        self.now = 0.0
        self.world = world
        self.user = user
        self.began: list[float] = []
        self.wrote: list[int] = []
        self.held: list[tuple[int, int, int]] = []
        assert isinstance(world.server, Simulated)
        self._cluster = in_process(world.server.simulator.store.handle, user=user.token, namespaces=[world.namespace])

    def wait(self, seconds: float) -> None:
        before, self.now = self.now, self.now + seconds
        if self.now // 3600 > before // 3600:
            self._people(int(self.now // 3600))
        if self.now >= DAY:
            self.ask("SIGTERM")

    def utcnow(self) -> datetime:
        return START + timedelta(seconds=self.now)

    def one_pass(self, policy: Policy, deadline: Deadline, start: Key | None) -> Report:
        self.began.append(self.now)
        report = sync_once(self._cluster, policy, seconds=deadline, start=start, now=self.utcnow)
        assert report.exit == Exit.OK, report
        self._look()
        self.now += 0.5
        return report

    def _people(self, hour: int) -> None:
        """A new size, a scaled Deployment, a Takara that goes and comes back; the controllers follow."""
        name, other, third = (NAMES[(hour + step) % len(NAMES)] for step in range(3))
        self.world.merge(name, {"spec": {"size": hour % 4}})
        path = f"/apis/apps/v1/namespaces/{self.world.namespace}/deployments/{other}?fieldManager=somebody"
        self.world.call("PATCH", path, {"spec": {"replicas": 7}}, content_type="application/merge-patch+json")
        self.world.call("DELETE", self.world.takara_path(third))
        self.world.settle()
        self.world.create(takara(third, 1))

    def _look(self) -> None:
        server = self.world.server
        assert isinstance(server, Simulated)
        self.wrote.append(sum(request.writes for request in server.requests(self.user)))
        server.store.requests.clear()
        server.simulator.controllers.settle()
        if len(self.began) in (60, 24 * 60):
            gc.collect()
            me = psutil.Process()
            self.held.append((len(gc.get_objects()), me.memory_info().rss, me.num_threads()))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with Simulated(tmp_path) as server:
        yield World(server, server.namespace())


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing that pytest would keep of a thousand passes: it would be taken for a leak."""
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def test_a_day_of_passes(world: World, long: bool, count: Callable[[str, int], None]) -> None:
    interval = 10 if long else 60
    world.create(*(takara(name, 2) for name in NAMES))
    day = Day(world, world.server.user())
    server = world.server
    assert isinstance(server, Simulated)
    server.store.now = day.utcnow  # the cluster lives on the same clock

    with quiet():
        code = Runner(Settings(), day, Heartbeat(None), day.one_pass, lambda: day.now).loop(interval)

    assert code == Exit.OK
    assert len(day.began) == DAY / interval
    assert all(began == number * interval for number, began in enumerate(day.began))
    _only_what_somebody_caused(day.wrote)
    _nothing_grew(*day.held)
    count("passes of a simulated day", len(day.began))


def _only_what_somebody_caused(wrote: list[int]) -> None:
    """An hour's doings concern three Takaras: a write to each Deployment, two to each status, and all is quiet."""
    busy = [writes for writes in wrote[2:] if writes]
    assert sum(busy) <= 24 * 9
    assert 24 <= len(busy) <= 24 * 3


def _nothing_grew(*held: tuple[int, int, int]) -> None:
    """Connections are looked at where there are some: in test_hundreds_of_passes."""
    objects, memory, threads = (after - before for before, after in zip(*held, strict=True))
    assert objects < 1000  # a leak would be one a pass
    assert memory < 8 * 2**20
    assert threads == 0
