"""A story without a stop, and how it ends when the process is stopped somewhere in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from takara_sync import Report
from tests.contract.simulated import Simulated
from tests.crash.onserver import OnServer
from tests.crash.process import Call, Kind, Point, Process
from tests.crash.simulation import Simulation
from tests.crash.situations import Situation
from tests.crash.state import State, all_wrong, comparable, differences

Bench = Simulation | OnServer
"""A situation that one can go back to, and run passes in."""

_PASSES_MAX = 8
_LISTS = ["GET deployments", "GET pods", "GET takaras"]


@dataclass(frozen=True)
class Passed:
    """One pass as it was when nothing stopped it."""

    before: Any
    calls: tuple[Call, ...]
    exit: int


@dataclass(frozen=True, eq=False)
class Story:
    """The passes from a situation to the one that finds nothing to do, which is the last, and what there is then."""

    passes: tuple[Passed, ...]
    end: State

    @cache  # noqa: B019 - a story lives as long as its test
    def comparable_end(self, forgotten: frozenset[str], *, hashes: bool) -> str:
        return comparable(self.end, forgotten, hashes=hashes)

    def points(self, kinds: Sequence[Kind]) -> list[tuple[int, Point]]:
        """Every call of every pass with each of the kinds; what comes late is a write."""
        return [
            (index, Point(number, kind))
            for index, passed in enumerate(self.passes)
            for number, call in enumerate(passed.calls)
            for kind in kinds
            if call.writes or kind != Kind.LATE
        ]


def settled(calls: Iterable[Call]) -> Counter[str]:
    """What a pass asked that found nothing to do: three lists and look-ups by name, and no write."""
    asked = Counter(str(call) for call in calls)
    writes = [str(call) for call in calls if call.writes]
    assert not writes, f"a settled state is written: {writes}"
    assert sorted(each for each in asked if "/" not in each) == _LISTS, asked
    assert set(asked.values()) == {1}, asked
    return asked


def told(simulation: Bench) -> Story:
    """The story of a situation, checked to be a good one by itself."""
    simulation.back_to(simulation.start)
    passes: list[Passed] = []
    moved = True
    while moved or any(call.writes for call in passes[-1].calls):
        assert len(passes) < _PASSES_MAX, "this never settles"
        before, process = simulation.moment(), Process()
        report = simulation.run(process)
        assert report is not None
        passes.append(Passed(before, tuple(process.calls), int(report.exit)))
        moved = simulation.settle()
    story = Story(tuple(passes), simulation.state())
    settled(passes[-1].calls)
    assert not all_wrong(story.end), "; ".join(all_wrong(story.end))
    assert not simulation.breaches, "; ".join(simulation.breaches)
    return story


@dataclass(frozen=True)
class Tell:
    """Prepares situations in a folder and tells their stories."""

    folder: Path

    def __call__(self, situation: Situation) -> tuple[Simulation, Story]:
        with Simulated(self.folder) as simulated:
            simulation = Simulation(simulated, situation)
        return simulation, told(simulation)


class Trial:
    """One way to be stopped in a story: what was written, what is forgotten, and the rest of the story after it."""

    def __init__(self, simulation: Bench, story: Story, index: int = 0, *, fresh: bool = True) -> None:
        """fresh: the story begins anew; else what was done already stays."""
        self.simulation, self.story, self.index = simulation, story, index
        self.writes: Counter[str] = Counter()
        self.forgotten: frozenset[str] = frozenset()
        if fresh:
            simulation.back_to(story.passes[index].before)

    def stopped_or_not(self, point: Point, workers: int = 1) -> tuple[Process, Report | None]:
        """A pass that is stopped there, if it comes so far; its report where it ended by itself."""
        process = Process(point)
        return process, self.run(process, workers)

    def run(self, process: Process, workers: int = 1) -> Report | None:
        """A pass; None where it was killed."""
        report = self.simulation.run(process, workers)
        self._note(process)
        self.forgotten |= process.unrecorded
        return report

    def stopped(self, point: Point, workers: int = 1) -> Process:
        """A pass that is stopped there; what goes on after a lost answer ends as if it had come."""
        process, report = self.stopped_or_not(point, workers)
        assert (report is None) == (point.kind != Kind.ALIVE)
        assert report is None or int(report.exit) == self.story.passes[self.index].exit, report
        return process

    def until_settled(self) -> None:
        """Passes until one writes nothing; that is no later than in the story."""
        for _ in self.story.passes:
            self.simulation.settle()
            process = Process()
            assert self.simulation.run(process) is not None
            self._note(process)
        assert settled(process.calls) == settled(self.story.passes[-1].calls)

    def rest(self, begin: int) -> None:
        """The passes of the story from that one on; each ends as it did there, the last finds nothing to do."""
        for index, passed in enumerate(self.story.passes[begin:], begin):
            process = Process()
            report = self.simulation.run(process)
            self._note(process)
            assert report is not None
            assert int(report.exit) == passed.exit, report
            if index == len(self.story.passes) - 1:
                assert settled(process.calls) == settled(passed.calls)
            self.simulation.settle()

    def ends_as_told(self, more: int) -> None:
        """Everything is as if nothing had happened, at the cost of so many more writes for a Takara at most."""
        exact = self.simulation.exact
        found = comparable(self.simulation.state(), self.forgotten, hashes=exact)
        gap = differences(self.story.comparable_end(self.forgotten, hashes=exact), found)
        assert not gap, gap
        assert not self.simulation.breaches, "; ".join(self.simulation.breaches)
        usual: Counter[str] = Counter()
        for passed in self.story.passes[self.index :]:
            usual.update(self._counted(passed.calls))
        too_many = {name: number for name, number in self.writes.items() if number > usual[name] + more}
        assert not too_many, f"written {too_many}, usually {usual}"

    def _note(self, process: Process) -> None:
        self.writes.update(self._counted(process.calls))

    def _counted(self, calls: Iterable[Call]) -> Iterable[str]:
        """The names of the writes that came to the server.

        Where the controllers are at work all the time, more or fewer statuses get told, and more or fewer writes meet
        a conflict: there only what was done to Deployments counts.
        """
        exact = self.simulation.exact
        counted = (call for call in calls if call.writes)
        return (call.takara for call in counted if (call.arrived if exact else call.good and not call.is_status))


def survived(simulation: Bench, story: Story, index: int, point: Point, workers: int = 1) -> None:
    """That pass of the story is stopped at this point; then the story goes on from that pass.

    The controllers do nothing until that pass has been made, so that it meets what the stopped one met.
    """
    trial = Trial(simulation, story, index)
    process = trial.stopped(point, workers)
    if point.kind == Kind.ALIVE:
        simulation.settle()
        trial.rest(min(index + 1, len(story.passes) - 1))
        trial.ends_as_told(more=2)  # the same again, and what its answer of a conflict leads to
        return
    trial.rest(index)
    if process.late is not None:
        process.late()
        simulation.settle()
        trial.rest(len(story.passes) - 1)
    trial.ends_as_told(more=1)
