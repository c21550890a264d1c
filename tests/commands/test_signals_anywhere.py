"""SIGINT and SIGTERM at any moment: no traceback, a report once a pass has begun, and the next pass heals the rest."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import Any

import pytest

from tests.commands.running import Commands, validate
from tests.commands.staging import fleet
from tests.contract.simulated import Simulated
from tests.world import World

FLEET = 60
MOMENTS = 6
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted:
    """A command on a fleet of 60 that a signal ends after a while."""

    def __init__(self, simulated: Simulated, *args: str) -> None:
        self.world = World(simulated, simulated.namespace())
        self.names = fleet(self.world, FLEET)
        self.commands = Commands(simulated, self.world.namespace)
        self._args = args
        self.reports: list[dict[str, Any]] = []
        self.spoke = False

    def after(self, seconds: float, number: signal.Signals, *, running: bool = False, again: bool = False) -> int:
        """The exit code. What it says is whole lines of JSON, on both streams.

        `running`: the time begins with the first line of the log. `again`: the signal is sent until the end.
        """
        with self.commands.started(*self._args) as process:
            assert process.stderr
            first = process.stderr.readline() if running else ""
            time.sleep(seconds)
            process.send_signal(number)
            while again and process.poll() is None:
                process.send_signal(number)
                time.sleep(0.005)
            stdout, stderr = process.communicate(timeout=60)
        assert "Traceback" not in stderr, stderr
        self.reports = [json.loads(line) for line in stdout.splitlines()]
        for report in self.reports:
            validate(report)
        log = [json.loads(line) for line in (first + stderr).splitlines()]
        assert all(isinstance(line, dict) for line in log)
        self.spoke = bool(log)
        return process.returncode

    @property
    def wrote(self) -> bool:
        return any(request.writes for request in self.commands.server.requests(self.commands.user))

    def heals(self) -> None:
        """The next pass converges everything; nobody has been created twice or forgotten."""
        healed = self.commands.converge()
        assert set(healed.results) == set(self.names)
        assert all(self.world.has_deployment(name) for name in self.names)


@pytest.fixture(scope="module")
def length(tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long such a pass takes on this machine, from the start of the process to its end, in seconds."""
    with Simulated(tmp_path_factory.mktemp("length")) as simulated:
        commands = Interrupted(simulated, "once").commands
        begun = time.monotonic()
        subprocess.run(commands.args("once"), env=commands.environment(), capture_output=True, check=True)
        return time.monotonic() - begun


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_once(simulated: Simulated, length: float, moment: int) -> None:
    number = SIGNALS[moment % 2] if moment > 1 else signal.SIGTERM  # Python's own start answers Ctrl-C by a traceback
    pending = Interrupted(simulated, "once")

    code = pending.after(length * (moment + 0.5) / MOMENTS, number)

    if pending.spoke:  # by then the signals are its own, until its very end
        assert code in (0, 4)
    else:
        assert code in (0, 4, -number)
    if pending.wrote:
        (report,) = pending.reports
        assert (report["exit"], len(report["takaras"])) == (code, FLEET)
        assert (report["error"] is None) == (code == 0)
    pending.heals()


@pytest.mark.parametrize("moment", range(3))
def test_a_loop(simulated: Simulated, length: float, moment: int) -> None:
    """0 in a wait, 4 in a pass; each pass that began has its line."""
    pending = Interrupted(simulated, "--interval", "100ms")

    code = pending.after(length * moment / 2, SIGNALS[moment % 2], running=True)

    assert all(report["exit"] == 0 for report in pending.reports[:-1])
    assert code in (0, 4)
    assert code == 0 or pending.reports[-1]["exit"] == code
    pending.heals()


def test_a_second_signal_changes_nothing(simulated: Simulated) -> None:
    """Who presses Ctrl-C again and again, until it is gone, gets the same clean end."""
    pending = Interrupted(simulated, "once")

    assert pending.after(0, signal.SIGINT, running=True, again=True) in (0, 4)
    pending.heals()
