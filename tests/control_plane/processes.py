"""The child processes of a control plane: their ports, their logs, their end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LINUX = sys.platform == "linux"
_LIBC = ctypes.CDLL(None)  # loaded before any fork: a child of a threaded process must not import
_TAIL_LINES = 25


class StartError(Exception):
    """A part of the control plane ended by itself; the message has the end of its log."""


class Ports:
    """Ports of 127.0.0.1 that the system chose and that stay ours until closed.

    The sockets stay bound and never listen; the children bind the same ports with SO_REUSEPORT
    (--permit-port-sharing, --socket-reuse-port). So there is no moment at which another process could
    be given one of them: the system gives out no bound port, not even one that may be shared.
    """

    def __init__(self, count: int) -> None:
        self._sockets = [socket.socket() for _ in range(count)]
        for one in self._sockets:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            one.bind(("127.0.0.1", 0))
        self.numbers: list[int] = [one.getsockname()[1] for one in self._sockets]

    def close(self) -> None:
        """Gives the ports back."""
        for one in self._sockets:
            one.close()


def _die_with(parent: int) -> Callable[[], None]:
    """What the child does before it becomes the command: it asks to be killed when we end."""

    def ask() -> None:
        if _LINUX:
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # we ended before the child could ask
            os._exit(1)

    return ask


class Processes:
    """Starts commands, and kills exactly those.

    Linux kills a child when the *thread* that started it ends, so start from a thread that stays.
    """

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def pids(self) -> dict[str, int]:
        """The process ids by name."""
        return {name: process.pid for name, process in self._running.items()}

    def start(self, name: str, command: list[str], environment: Mapping[str, str]) -> None:
        """Starts a command; what it says goes to its own log."""
        with self._log(name).open("wb") as log:
            self._running[name] = subprocess.Popen(
                command,
                env=dict(environment),
                cwd=self._logs,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for pytest, which then ends us in order
                preexec_fn=_die_with(os.getpid()),  # noqa: PLW1509 - two system calls, nothing that takes a lock
            )

    def check(self) -> None:
        """Raises StartError if one of them has ended by itself."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise StartError(f"{name} ended with code {process.returncode}\n{self.tails(name)}")

    def tails(self, *names: str) -> str:
        """The ends of the logs, of all processes unless some are named."""
        return "\n".join(f"--- the end of {name}'s log\n{self._tail(name)}" for name in names or self._running)

    def kill(self, *names: str) -> None:
        """Ends them, or those that are named, at once: a graceful end takes an API server 15 s, for nothing."""
        ended = [self._running.pop(name) for name in names or list(self._running)]
        for process in ended:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        for process in ended:
            process.wait()

    def _log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def _tail(self, name: str) -> str:
        lines = self._log(name).read_text(errors="replace").splitlines()
        return "\n".join(lines[-_TAIL_LINES:])
