"""The loop's Deployment has no probe: a pass that hangs ends the process, and says where it hung."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from unittest import mock

import pytest

from takara_sync.cli.overrun import watch
from takara_sync.deadline import Deadline

# A loop whose second pass holds a lock for ever, deaf to its deadline and to SIGTERM; with a short grace.
HANGS = """
import sys, threading
from takara_sync.cli import logs, loop, overrun
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from tests.cli.test_loop import report

logs.set_up(sys.argv[1], "info")
loop.watch = lambda deadline, path, last_words: overrun.watch(deadline, path, 0.2, last_words)
done = []

def deaf(policy, deadline, start):
    done.append(start)
    if len(done) == 2:
        threading.Thread(target=threading.Event().wait, name="worker-7", daemon=True).start()
        while True:
            threading.Event().wait()
    return report()

settings = Settings(output="json", pass_timeout=0.3, request_timeout=0.1, termination_message_path=sys.argv[2])
loop.Runner(settings, Stop(), Heartbeat(None), deaf).loop(0.1)
"""


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_a_pass_that_hangs_ends_with_70_and_the_stacks_of_its_threads(log_format: str, tmp_path: Path) -> None:
    message = tmp_path / "message"
    command = [sys.executable, "-c", HANGS, log_format, str(message)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.count('"exit":0')) == (70, 1)  # the first pass was reported
    lines = [json.loads(line)["message"] if log_format == "json" else line for line in done.stderr.splitlines()]
    (over,) = (number for number, line in enumerate(lines) if "deadline of 0.3 s is long over" in line)
    main = [line for line in lines[over:] if "thread MainThread is here: " in line]
    frames = [next(line for line in main if f"in {name}" in line) for name in ("loop", "deaf")]
    assert main.index(frames[0]) < main.index(frames[1])
    assert any("thread worker-7 is here: " in line for line in lines)
    last = json.loads(message.read_text())
    assert (last["exit"], last["name"]) == (70, "bug")
    assert "deadline of 0.3 s is long over" in last["error"]


@pytest.mark.parametrize(("deadline", "seconds"), [(Deadline(50), 60), (Deadline(), threading.TIMEOUT_MAX)])
def test_the_grace_is_10_seconds_and_nothing_is_left_of_a_pass_that_ends_in_it(
    deadline: Deadline, seconds: float
) -> None:
    with mock.patch("threading.Timer") as timer:
        with watch(deadline):
            assert not timer.return_value.cancel.called
        assert timer.return_value.cancel.called
    assert timer.call_args.args[0] == seconds
