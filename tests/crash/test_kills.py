"""SIGKILL for the installed command in the middle of a drifted fleet: the next pass puts everything right."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.contract.simulated import Simulated
from tests.crash.onserver import OnServer, breaches_in, foreign_in, untold
from tests.crash.simulation import Simulation
from tests.crash.situations import DRIFTED, DRIFTED_LITTLE
from tests.crash.survival import Trial, told
from tests.world import World

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from takara_sync.simulator import Asked
    from tests.control_plane.server import ControlPlane
    from tests.crash.bench import Bench
    from tests.crash.survival import Story
    from tests.server import Request
    from tests.tool import Tool

_SECONDS = 60


class Killing:
    """`takara-sync once`, gone as soon as `kill` is called."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(tool.args("once"), env=tool.environment(), stdout=pipe, stderr=pipe, text=True)

    def kill(self) -> None:
        self.process.kill()  # nobody else, where it has ended by itself

    def was_killed(self) -> bool:
        """Waits for its end; whether the kill came before it."""
        self.process.communicate(timeout=_SECONDS)
        return self.process.returncode == -signal.SIGKILL


class Hook:
    """In the place of the simulator's denials: the killer strikes as a request comes in."""

    def __init__(self, user: str, number: int, strike: Callable[[], bool]) -> None:
        self._user, self._left, self._strike = user, number, strike

    def __call__(self, asked: Asked) -> bool:
        """Whether this request is refused."""
        if asked.user != self._user:
            return False
        self._left -= 1
        return self._left == -1 and self._strike()


def killed_at(simulation: Simulation, number: int, draw: random.Random) -> bool:
    """At that request: before it is carried out, when it is, or a moment later; whether the process was hit."""
    holder: list[Killing] = []
    begun = threading.Event()
    refused, delay = draw.choice([(True, 0.0), (False, 0.0), (False, draw.uniform(0, 0.02))])

    def strike() -> bool:
        begun.wait()
        threading.Timer(delay, holder[0].kill).start() if delay else holder[0].kill()
        return refused

    simulation.store.deny = Hook(simulation.tool.user.name, number, strike)
    holder.append(Killing(simulation.tool))
    begun.set()
    hit = holder[0].was_killed()
    simulation.store.deny = lambda _: False
    return hit


def _counts(request: Request, *, exact: bool) -> bool:
    """As in Trial; what the killer refused never came to the server."""
    came = request.code != 403 if exact else request.code < 300 and request.resource == "deployments"
    return request.writes and came


def heals(bench: Bench, story: Story, tool: Tool, world: World, seen: int, foreign: set[str]) -> None:
    """The command, once more, ends as if nothing had been; what is left to tell is told, and all is as in the story."""
    trial = Trial(bench, story, fresh=False)
    healed = tool.once()
    assert healed.code == story.passes[0].exit, healed.stdout + healed.stderr
    every = world.server.requests(tool.user)[seen:]
    lists = [number for number, each in enumerate(every) if (each.verb, each.resource) == ("list", "deployments")]
    trial.forgotten = untold(every[: lists[-1]])  # what was in flight when it was killed may have come after its end
    assert breaches_in(every, foreign) == []
    trial.writes.update(each.name for each in every if _counts(each, exact=bench.exact))
    trial.until_settled()
    trial.ends_as_told(more=1)


@pytest.fixture(params=["first", "second"])
def half(request: pytest.FixtureRequest) -> str:
    """`draw` goes by the name of the test, in which this is."""
    return str(request.param)


@pytest.mark.usefixtures("half")
def test_on_the_simulator(tmp_path: Path, draw: random.Random, long: bool, count: Callable[[str, int], None]) -> None:
    """At a drawn request. In halves, so that a busy machine has the time; each draws for itself."""
    with Simulated(tmp_path) as simulated:
        simulation = Simulation(simulated, DRIFTED)
        story = told(simulation)
        foreign = foreign_in(simulation.state())
        kills = 0
        for _ in range(100 if long else 4):
            simulation.back_to(simulation.start)
            world = World(simulated, simulation.namespace)
            kills += killed_at(simulation, draw.randrange(len(story.passes[0].calls)), draw)
            heals(simulation, story, simulation.tool, world, 0, foreign)
        count("SIGKILLs survived, simulator", kills)
        assert kills > 0


def test_on_a_real_server(
    control_plane: ControlPlane, draw: random.Random, long: bool, count: Callable[[str, int], None]
) -> None:
    """At a drawn moment after a drawn line of its log: each Deployment that it changes is one."""
    situation = DRIFTED if long else DRIFTED_LITTLE
    bench = OnServer(control_plane, situation)
    story = told(bench)
    changes = sum(call.writes and not call.tells for call in story.passes[0].calls)
    kills = 0
    for _ in range(200 if long else 3):
        bench.back_to(bench.start)
        killing = Killing(bench.tool)
        assert killing.process.stderr
        for _ in range(draw.randrange(1, changes // 2)):
            killing.process.stderr.readline()
        time.sleep(draw.uniform(0, 0.03))
        killing.kill()
        kills += killing.was_killed()
        heals(bench, story, bench.tool, bench.world, bench.seen, foreign_in(bench.state()))
    count("SIGKILLs survived, real server", kills)
    assert kills > 0
