"""The loop as a process: it ends when a signal asks for it, with the exit code of what it did."""

from __future__ import annotations

import signal

import pytest

from tests.contract.simulated import Simulated
from tests.support.takaras import takara
from tests.tool import Called
from tests.world import World


@pytest.fixture
def world(simulated: Simulated) -> World:
    return World(simulated, simulated.namespace())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_ends_the_wait_with_0(world: World, number: signal.Signals) -> None:
    with Called(world.server, world.namespace).started("--interval", "300") as process:
        assert process.stdout is not None
        assert '"exit":0' in process.stdout.readline()  # the first pass is over

        process.send_signal(number)

        assert process.wait(timeout=10) == 0  # far less than the interval


def test_sigterm_in_a_pass_ends_it_with_4_and_a_report(world: World) -> None:
    names = [f"one-{number:03}" for number in range(200)]
    world.create(*(takara(name, 0) for name in names))
    tool = Called(world.server, world.namespace)
    with tool.started("--interval", "300", "--concurrency", "1") as process:
        assert process.stderr is not None
        while " created" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=20)

    assert process.returncode == 4, stderr
    assert '"not reached":' in stdout
    assert "SIGTERM" in stdout
    made = stdout.count('"result":"created"')
    assert 0 < made < 200
    assert sum(world.has_deployment(name) for name in names) == made
    assert tool.converge().results.keys() == set(names)
