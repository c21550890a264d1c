"""SIGTERM: in a pass the request in hand finishes; in the wait of a loop it ends at once."""

from __future__ import annotations

import json
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.wire.answers import good, held, status, through
from tests.wire.command import QUICK, Command, kubeconfig
from tests.wire.credentials import plugin

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.wire.server import FaultServer

LONG = ("--request-timeout", "20s", "--pass-timeout", "40s", "-o", "json")


@pytest.fixture
def config(server: FaultServer, tmp_path: Path) -> Path:
    server.create_takaras("a", "b", "c")
    return kubeconfig(tmp_path, server)


def end_of(process: subprocess.Popen[str], number: signal.Signals, go: threading.Event) -> None:
    """The signal, time for it to arrive, and only then the answer that the process waits for."""
    process.send_signal(number)
    time.sleep(0.5)
    go.set()


@pytest.mark.parametrize("command_line", [("once",), ("--interval", "60")], ids=["once", "loop"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_in_a_write_that_write_is_finished_and_no_other_begun(
    command: Command, server: FaultServer, config: Path, command_line: tuple[str, ...], number: signal.Signals
) -> None:
    reached, go = threading.Event(), threading.Event()
    server.on("*/deployments/*", held(reached, go), through, method="PATCH")
    process = command.start(*command_line, "--kubeconfig", str(config), "--concurrency", "1", *LONG)
    assert reached.wait(20)
    end_of(process, number, go)
    ended = command.end(process)
    assert ended.code == ended.report["exit"] == 4
    assert sorted(one["result"] for one in ended.report["takaras"]) == ["created", "not reached", "not reached"]
    assert number.name in ended.report["error"]["message"]
    assert len(server.writes) == 1


def test_in_a_list_nothing_is_written(command: Command, server: FaultServer, config: Path) -> None:
    reached, go = threading.Event(), threading.Event()
    server.on("*/deployments", held(reached, go))
    process = command.start("once", "--kubeconfig", str(config), *LONG)
    assert reached.wait(20)
    end_of(process, signal.SIGTERM, go)
    ended = command.end(process)
    assert (ended.code, ended.report["takaras"]) == (4, [])
    assert len(server.requests) == 1


def test_in_the_wait_for_a_retry(command: Command, server: FaultServer, config: Path) -> None:
    """It does not wait for the 30 seconds, and it was the signal that cut the pass short."""
    refused = threading.Event()
    go = threading.Event()
    go.set()
    server.on("*/deployments", held(refused, go, status(503, Retry_After="30")))
    process = command.start("once", "--kubeconfig", str(config), *LONG)
    assert process.stderr
    while "follows in" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGTERM)
    ended = command.end(process, 10)
    assert ended.code == ended.report["exit"] == 4
    assert len(server.requests) == 1


def test_in_the_wait_of_a_loop(command: Command, server: FaultServer, config: Path) -> None:
    process = command.start("--interval", "60", "--kubeconfig", str(config), *LONG)
    assert process.stdout
    report = json.loads(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    ended = command.end(process, 10)
    assert (report["exit"], ended.code, ended.stdout) == (0, 0, "")
    assert len(server.asked("*/pods")) == 1


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


def test_a_loop_lives_through_failed_passes(command: Command, server: FaultServer, config: Path) -> None:
    server.on("*/deployments", good(b"404 page not found", 404), good(b"<html>"), status(403), through, method="GET")
    process = command.start("--interval", "50ms", "--kubeconfig", str(config), "-o", "json", *QUICK)
    assert process.stdout
    codes = [json.loads(process.stdout.readline())["exit"] for _ in range(5)]
    process.send_signal(signal.SIGTERM)
    command.end(process, 10)
    assert codes == [3, 3, 3, 0, 0]
