"""The command as a process of its own, forked from one that has loaded everything: a real end in a tenth of the time.

It runs `main` with its own arguments, environment and streams, and ends as the interpreter lets it. `before` is called
first: there a test takes the waits between tries away, or seeds a bug.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tenacity

from takara_sync import work_queue
from takara_sync.kube import api, transport
from tests.wire.command import Command, Ended, checked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LIMIT = 2**20
"""What a page may have there, in bytes; really it is 256 MiB."""

_ALONE = threading.Lock()  # a start looks for the end of every other process, and an exit code is read but once
_STREAMS = ("stdout", "stderr")
_FORKS: Any = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    ["kubernetes.client", "kubernetes.config.kube_config", "takara_sync.cli.options", "takara_sync.cli.loop", __name__]
)


def hasty(put: Callable[[Any, str, Any], None] = setattr) -> None:
    """No backoff between tries (a Retry-After is waited for all the same), and a small limit for a page."""
    put(api, "BACKOFF", tenacity.wait_none())
    put(work_queue, "BACKOFF_SECONDS", 0.0)
    put(transport, "PAGE_BYTES_MAX", LIMIT)


class Forked(Command):
    """takara-sync as Command runs it, but forked."""

    def __init__(self, home: Path, before: Callable[[], None] = hasty) -> None:
        super().__init__(home)
        self._before = before

    def run(self, *args: str, patience: float = 30, env: Mapping[str, str] | None = None) -> Ended:
        into = Path(tempfile.mkdtemp(dir=self.home))
        process = _FORKS.Process(target=_run, args=(args, self.env | dict(env or {}), into, self._before))
        with _ALONE:
            process.start()
        if not wait([process.sentinel], patience):
            process.kill()
            raise subprocess.TimeoutExpired(args, patience)
        with _ALONE:
            process.join()
        return checked(Ended(process.exitcode, *((into / name).read_text() for name in _STREAMS)), str(args))


def _run(args: tuple[str, ...], env: dict[str, str], folder: Path, before: Callable[[], None]) -> None:
    for number, name in enumerate(_STREAMS, 1):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["takara-sync", *args]
    before()
    from takara_sync.cli.main import main  # noqa: PLC0415 - as it is now

    sys.exit(main(args))
