"""The programs of Prometheus, and processes of them that end with their test."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.monitoring.programs import HOW_TO_FETCH, NAMES, programs


class Tools:
    """The programs. One that is missing skips the test that asks for it; in CI one of Debian's packages fails it."""

    def __init__(self, *, required: bool) -> None:
        self._required = required
        self._found = programs()

    def __getitem__(self, name: str) -> Path:
        if name not in self._found:
            required = self._required and name in NAMES
            (pytest.fail if required else pytest.skip)(f"{name} is missing; {HOW_TO_FETCH}")
        return self._found[name]


@pytest.fixture(scope="session")
def tools(request: pytest.FixtureRequest) -> Tools:
    return Tools(required=request.config.getoption("--require-control-plane"))


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts processes, which end with the test; each writes its output to a file of its own."""
    with contextlib.ExitStack() as stack:

        def start(*command: object) -> subprocess.Popen[bytes]:
            name = f"{Path(str(command[0])).name}-{len(list(tmp_path.glob('*.log')))}.log"
            log = stack.enter_context((tmp_path / name).open("wb"))
            process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log, cwd=tmp_path)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        yield start


def free_port() -> int:
    """A port that the system has just given back."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def check_metrics(tools: Tools, text: str) -> None:
    """Raise AssertionError if promtool finds anything in this exposition."""
    done = subprocess.run(
        [tools["promtool"], "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
