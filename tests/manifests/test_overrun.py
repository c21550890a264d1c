"""The loop's Deployment has no probe: a pass that hangs ends the process, and says where it hung."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest

from takara_sync.cli.overrun import SECONDS, Watch
from takara_sync.cluster import Deadline

# A loop whose second pass holds a lock for ever, deaf to its deadline and to SIGTERM; with a short grace.
HANGS = """
import sys, threading
from takara_sync.cli import logs, loop, overrun
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from tests.cli.test_loop import report

log_format, grace = sys.argv[1], float(sys.argv[2])
logs.set_up(log_format, "info")
loop.Watch = lambda deadline: overrun.Watch(deadline, grace)
done = []

def deaf(deadline, offset):
    done.append(offset)
    if len(done) == 2:
        threading.Thread(target=threading.Event().wait, name="worker-7", daemon=True).start()
        while True:
            threading.Event().wait()
    return report()

settings = Settings(output="json", pass_timeout=0.3, request_timeout=0.1)
loop.Runner(settings, Stop(), Heartbeat(None), deaf).loop(0.1)
"""


def hang(log_format: str, grace: float) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HANGS, log_format, str(grace)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


def test_a_pass_that_hangs_ends_with_70_and_its_stacks_in_json() -> None:
    done = hang("json", 0.2)
    assert done.returncode == 70
    assert done.stdout.count('"exit":0') == 1  # the first pass was told
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    critical = [line for line in lines if line["level"] == "critical"]
    assert "deadline of 0.3 s is long over" in critical[0]["message"]
    stacks = {line["message"]: line["traceback"] for line in critical[1:]}
    assert "in deaf" in stacks["thread MainThread stands here"]
    assert stacks["thread MainThread stands here"].index("in loop") < stacks["thread MainThread stands here"].index(
        "in deaf"
    )
    assert "thread worker-7 stands here" in stacks


def test_and_in_text() -> None:
    done = hang("text", 0.2)
    assert done.returncode == 70
    assert "thread MainThread stands here" in done.stderr
    assert "in deaf" in done.stderr


def test_the_grace_is_10_seconds_and_a_pass_that_ends_in_it_is_none_of_its_business(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(threading.Timer, "start", lambda timer: waits.append(timer.interval))
    with Watch(Deadline(50)):
        pass
    with Watch(Deadline()):
        pass
    assert SECONDS == 10
    assert waits == [60, threading.TIMEOUT_MAX]


def test_nothing_is_left_of_a_watch() -> None:
    before = threading.active_count()
    for _ in range(20):
        with Watch(Deadline(50)):
            pass
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(5)
    assert threading.active_count() <= before
