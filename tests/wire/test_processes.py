"""What only a process can show: a signal at a known moment, and a report that nobody can read.

Signals at any moment are in tests/commands, those in the wait of a loop in tests/main_job.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.wire.answers import held, status, through
from tests.wire.command import MODULE, Command, Ended, kubeconfig
from tests.wire.credentials import plugin

if TYPE_CHECKING:
    from pathlib import Path

    from tests.wire.server import FaultServer

LONG = ("--request-timeout", "20s", "--pass-timeout", "40s", "-o", "json")


@pytest.fixture
def config(server: FaultServer, tmp_path: Path) -> Path:
    server.create_takaras("a", "b", "c")
    return kubeconfig(tmp_path, server)


class Held:
    """A command whose request of this kind is answered only after a signal has arrived."""

    def __init__(self, command: Command, server: FaultServer, config: Path, path: str, method: str) -> None:
        self._reached, self._go = threading.Event(), threading.Event()
        server.on(path, held(self._reached, self._go), through, method=method)
        self._command = command
        self._args = ("--kubeconfig", str(config), "--concurrency", "1", *LONG)

    def ended_by(self, number: signal.Signals, *command_line: str) -> Ended:
        process = self._command.start(*command_line, *self._args)
        assert self._reached.wait(20)
        process.send_signal(number)
        time.sleep(0.5)  # until it has arrived
        self._go.set()
        return self._command.end(process)


@pytest.mark.parametrize("command_line", [("once",), ("--interval", "60")], ids=["once", "loop"])
def test_in_a_write_that_write_is_finished_and_no_other_begun(
    command: Command, server: FaultServer, config: Path, command_line: tuple[str, ...]
) -> None:
    ended = Held(command, server, config, "*/deployments/*", "PATCH").ended_by(signal.SIGINT, *command_line)
    assert ended.code == ended.report["exit"] == 4
    assert sorted(one["result"] for one in ended.report["takaras"]) == ["created", "not reached", "not reached"]
    assert "SIGINT" in ended.report["error"]["message"]
    assert len(server.writes) == 1


def test_in_a_list_nothing_is_written(command: Command, server: FaultServer, config: Path) -> None:
    ended = Held(command, server, config, "*/deployments", "GET").ended_by(signal.SIGTERM, "once")
    assert (ended.code, ended.report["takaras"]) == (4, [])
    assert len(server.requests) == 1


def test_in_the_wait_for_a_retry(command: Command, server: FaultServer, config: Path) -> None:
    """It does not wait for the 30 seconds, and it was the signal that cut the pass short."""
    server.on("*/deployments", status(503, Retry_After="30"))
    process = command.start("once", "--kubeconfig", str(config), *LONG)
    assert process.stderr
    while "follows in" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGTERM)
    ended = command.end(process, 10)
    assert ended.code == ended.report["exit"] == 4
    assert len(server.requests) == 1


def test_while_a_credential_plugin_does_not_answer(command: Command, server: FaultServer, tmp_path: Path) -> None:
    """One that waits for a login, say: nothing else would ever end the process."""
    begun = tmp_path / "begun"
    code = f"import time; open({str(begun)!r}, 'w').close(); time.sleep(25)"
    path = kubeconfig(tmp_path, server, plugin(code))
    process = command.start("once", "--kubeconfig", str(path), *LONG)
    while not begun.exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert command.end(process, 10).code in (2, 4)
    assert server.requests == []


@pytest.mark.parametrize(("target", "codes"), [("pipe", {0}), ("full disk", {1, 3, 4, 5, 6})])
def test_a_report_that_nobody_can_read_changes_no_pass(
    command: Command, server: FaultServer, config: Path, target: str, codes: set[int]
) -> None:
    reading, pipe = os.pipe()
    os.close(reading)
    full = os.open("/dev/full", os.O_WRONLY)
    args = (*MODULE, "once", "--kubeconfig", str(config), "-o", "json")
    stdout = pipe if target == "pipe" else full
    done = subprocess.run(args, stdout=stdout, stderr=subprocess.PIPE, env=command.env, timeout=30, check=False)
    os.close(pipe)
    os.close(full)
    assert done.returncode in codes
    assert b"Traceback" not in done.stderr
    assert len(server.writes) == 6
