"""Random runs of the machine over the simulator and, with fewer steps, over a real server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from takara_sync.report import Result
from tests.control_plane.server import ControlPlane
from tests.model.backends import Real
from tests.model.machine import Machine, OnTheSimulator, on_a_real_server

SHORT, LONG = 60, 2500  # runs on the simulator, in each part
PARTS = 2
STEPS = 40
REAL_SHORT, REAL_LONG = 3, 120
REAL_STEPS = 15


# What a machine has to come to, else it proves little.
EVERYTHING = {str(result) for result in Result} | {"killed", *(f"exit {code}" for code in (0, 1, 3, 4, 5, 6))}


# A machine that breaks everything fills any log.
pytestmark = pytest.mark.usefixtures("silent")


def run(machine: type[Machine], seed: int, *, runs: int, steps: int, shrink: bool = True) -> int:
    """The machine's steps, in all; raises with the shortest program that breaks something."""
    machine.steps = Counter()
    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
    how = settings(
        max_examples=runs,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=how)
    return machine.steps["steps"]


@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_happens_on_the_simulator(
    part: int, seed: int, count: Callable[[str, int], None], *, long: bool
) -> None:
    steps = run(OnTheSimulator, seed * PARTS + part, runs=LONG if long else SHORT, steps=STEPS)
    count("model steps, simulator", steps)
    assert not EVERYTHING - OnTheSimulator.steps.keys(), "this never came about"


def test_whatever_happens_on_a_real_server(
    control_plane: ControlPlane, seed: int, count: Callable[[str, int], None], *, long: bool
) -> None:
    machine = on_a_real_server(lambda: Real(control_plane))
    # What a real server does is not the same twice, so nothing is made shorter.
    steps = run(machine, seed, runs=REAL_LONG if long else REAL_SHORT, steps=REAL_STEPS, shrink=False)
    count("model steps, real server", steps)
