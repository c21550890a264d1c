"""The machine: passes among everything that can happen, and what must hold after each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from tests.model import ending, truth
from tests.model.backends import Backend, Simulated
from tests.model.draws import FAULTS, NAMES, TEMPLATES, fleets, names, programs, sizes
from tests.model.happenings import Happenings
from tests.model.oracle import Program
from tests.model.passes import Fault, Pass, Stale

A_SECOND = timedelta(seconds=1)  # managedFields tell times in whole seconds: each step and each pass lasts one


class Machine(Happenings):
    """Everything that can happen. `steps` counts, over all runs of the class, steps and what became of passes."""

    steps: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.stopped: list[Pass] = []
        self.broken = False

    def populate(self, fleet: Sequence[str]) -> None:
        """What is there at the beginning: for each name one of `BEGINNINGS`."""
        for name, what in zip(NAMES, fleet, strict=False):
            if what == "nothing":
                continue
            self.create(name, 2, TEMPLATES[2] if what == "template" else None, halted=what == "paused")
            if what.startswith("go operator"):
                self.go_operator(name, 3, env=True, cleared=what.endswith("cleared"))
            if what == "stranger":
                self.strange_deployment(name)
        if "converged" in fleet:
            self.sync()
            self.settle()
            self.sync()

    @rule(program=programs)
    def settle_and_sync(self, program: Program = Program()) -> None:  # noqa: B008 - frozen
        self.backend.settle()
        self.sync(program)

    @rule(name=names, size=sizes)
    def tug(self, name: str, size: int = 4) -> None:
        """Somebody scales, we take it back, and that again."""
        for _ in range(2):
            self.scale(name, size)
            self.sync()

    # -------------------------------------------------------------- passes

    def begin(self, program: Program, fault: Fault = Fault(), stale: Stale = Stale()) -> Pass:  # noqa: B008 - frozen
        self.clock += A_SECOND
        return Pass(self.backend, self.law, self.now, program, fault, stale)

    @rule(program=programs)
    def sync(self, program: Program = Program()) -> None:  # noqa: B008 - frozen
        """A whole pass; where nothing moves by itself, all that it left behind is looked at, and a second one."""
        before = truth.picture(self.backend)
        one = self.begin(program)
        one.run()
        self.ended(one)
        if not self.backend.steady:
            return
        self.law.breaches += truth.breaches_of_a_pass(one, before, truth.picture(self.backend))
        self.clock -= A_SECOND  # no contest may run out between the two
        second = self.begin(program)
        second.run()
        self.law.breaches += truth.breaches_of_a_second_pass(one, second)

    @rule(limit=st.sampled_from((0, 1)))
    def limited(self, limit: int = 0) -> None:
        one = self.begin(Program(max_changes=limit))
        one.run()
        self.ended(one)

    @rule(after=st.booleans(), at=st.integers(3, 9), program=programs)
    def killed_pass(self, at: int, program: Program = Program(), *, after: bool = True) -> None:  # noqa: B008 - frozen
        one = self.begin(program, Fault("killed after" if after else "killed before", at))
        one.run()
        self.ended(one)

    @rule(kind=st.sampled_from(FAULTS), at=st.integers(1, 9))
    def broken_pass(self, kind: str, at: int) -> None:
        before = truth.picture(self.backend)
        one = self.begin(Program(), Fault(kind, at))
        one.run()
        self.ended(one)
        if self.backend.steady and one.report is not None and one.report.exit in (0, 6):
            self.law.breaches += truth.breaches_of_a_pass(one, before, truth.picture(self.backend))

    @precondition(lambda self: self.backend.steady)
    @rule(plural=st.sampled_from(("takaras", "deployments", "pods")), steps=st.integers(1, 6))
    def stale_pass(self, plural: str, steps: int) -> None:
        one = self.begin(Program(), stale=Stale(plural, steps))
        one.run()
        self.ended(one)

    @precondition(lambda self: len(self.stopped) < 2)
    @rule(program=programs, at=st.integers(0, 12))
    def begin_pass(self, program: Program = Program(), at: int = 3) -> None:  # noqa: B008 - frozen
        self.stopped.append(self.begin(program))
        self.resume(self.stopped[-1], at)

    @precondition(lambda self: bool(self.stopped))
    @rule(which=st.integers(0, 1), requests=st.sampled_from((1, 2, 3, None)))
    def go_on(self, which: int = 0, requests: int | None = None) -> None:
        self.resume(self.stopped[which % len(self.stopped)], requests)

    def resume(self, one: Pass, requests: int | None) -> None:
        one.go(requests)
        if one.over:
            self.stopped.remove(one)
            self.ended(one)

    def ended(self, one: Pass) -> None:
        """Look at its report, and note what the machine has come to."""
        self.law.breaches += truth.breaches_of_a_report(one)
        report = one.report
        self.steps["killed" if report is None else f"exit {int(report.exit)}"] += 1
        self.steps.update(str(outcome.result) for outcome in (report.takaras if report else ()))

    # -------------------------------------------------------------- what must hold

    @invariant()
    def lawful(self) -> None:
        self.steps["steps"] += 1
        if self.law.breaches:
            self.broken = True
            raise AssertionError("; ".join(self.law.breaches))
        for name, size in self.autoscaled.items():
            live = self.backend.get("deployments", name)
            if live is not None and live["spec"]["replicas"] != size:
                self.scale(name, size, "hpa")
        self.backend.remember()
        self.clock += A_SECOND

    def teardown(self) -> None:
        self.autoscaled = {}
        for one in self.stopped:
            one.kill()
        if not self.broken and hasattr(self, "backend"):
            ending.quiet(self)
            self.lawful()


class OnTheSimulator(Machine):
    """The machine over the simulator, with the CRD's schema or without."""

    @initialize(schemaless=st.booleans(), fleet=fleets)
    def start(self, fleet: Sequence[str] = (), *, schemaless: bool = False) -> None:
        self.open(Simulated(self.now, schemaless=schemaless))
        self.populate(fleet)


def on_a_real_server(opened: Callable[[], Backend]) -> type[Machine]:
    """The machine over namespaces of a real server."""

    class OnARealServer(Machine):
        @initialize(fleet=fleets)
        def start(self, fleet: Sequence[str] = ()) -> None:
            self.open(opened())
            self.populate(fleet)

    return OnARealServer
