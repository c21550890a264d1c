"""The loop: it ends when a signal asks for it, with the exit code of what it did."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator

import pytest

from tests.support.takaras import takara
from tests.tool import Tool
from tests.world import World


@pytest.fixture
def loop(tool: Tool) -> Iterator[subprocess.Popen[str]]:
    """A running loop with a long interval, after its first pass."""
    with tool.started("--interval", "300") as process:
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_ends_the_wait_with_0(loop: subprocess.Popen[str], number: signal.Signals) -> None:
    assert loop.stdout is not None
    assert '"exit":0' in loop.stdout.readline()  # the first pass is over

    loop.send_signal(number)

    assert loop.wait(timeout=10) == 0  # far less than the interval


def test_passes_follow_each_other(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    with tool.started("--interval", "0.2", "--log-level", "error") as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        process.terminate()
        assert process.wait(timeout=10) in (0, 4)
    assert '"result":"created"' in lines[0]
    assert all('"result":"unchanged"' in line for line in lines[1:])


def test_sigterm_in_a_pass_ends_it_with_4_and_a_report(world: World, tool: Tool) -> None:
    world.create(*(takara(f"one-{number:03}", 0) for number in range(200)))
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
    assert sum(world.has_deployment(f"one-{number:03}") for number in range(200)) == made
    assert len(tool.converge().results) == 200
