"""The command as a process of its own, forked from one that has loaded everything: a real end in a tenth of the time.

It runs `main` with its own arguments, environment and streams, and ends as the interpreter lets it. `before` is called
first: there a test takes the waits between tries away, or seeds a bug.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import subprocess
import sys
import threading
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, cast

from takara_sync.kube import api, exchange
from tests.wire.command import Command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMIT = 2**20
"""What a page may have there, in bytes; really it is 256 MiB."""

_ALONE = threading.Lock()  # a start looks for the end of every other process, and an exit code is read but once
_FORKS: Any = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    ["kubernetes.client", "kubernetes.config.kube_config", "takara_sync.cli.options", "takara_sync.cli.loop", __name__]
)


def hasty() -> None:
    """No backoff between tries (a Retry-After is waited for all the same), and a small limit for a page."""
    api._BACKOFF = lambda _: 0.0  # type: ignore[assignment]
    exchange.PAGE_BYTES_MAX = LIMIT


class Forked(Command):
    """takara-sync as Command runs it, but forked."""

    def __init__(self, home: Path, before: Callable[[], None] = hasty) -> None:
        super().__init__(home)
        self._before = before
        self._numbers = itertools.count()

    def start(self, *args: str, **env: str) -> subprocess.Popen[str]:
        into = self.home / f"run-{next(self._numbers)}"
        into.mkdir()
        process = _FORKS.Process(target=_run, args=(args, self.env | env, into, self._before))
        with _ALONE:
            process.start()
        return cast("subprocess.Popen[str]", Fork(args, process, into))


class Fork:
    """What the tests use of a Popen."""

    def __init__(self, args: tuple[str, ...], process: Any, folder: Path) -> None:
        self.args = args
        self._process = process
        self._folder = folder

    @property
    def returncode(self) -> int | None:
        code: int | None = self._process.exitcode
        return code

    def communicate(self, timeout: float) -> tuple[str, str]:
        if not wait([self._process.sentinel], timeout):
            raise subprocess.TimeoutExpired(self.args, timeout)
        with _ALONE:
            self._process.join()
        return (self._folder / "stdout").read_text(), (self._folder / "stderr").read_text()

    def kill(self) -> None:
        self._process.kill()


def _run(args: tuple[str, ...], env: dict[str, str], folder: Path, before: Callable[[], None]) -> None:
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["takara-sync", *args]
    before()
    from takara_sync.cli.main import main  # noqa: PLC0415 - as it is now

    sys.exit(main(args))
