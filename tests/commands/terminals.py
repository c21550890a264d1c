"""The command under a pseudo-terminal of a given size, as a person sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from dataclasses import dataclass

from tests.commands.running import Commands
from tests.tool import COMMAND

_ESCAPE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[@-_])")


@dataclass(frozen=True)
class Screen:
    """What came out, byte for byte, and without its escape sequences."""

    code: int
    raw: str

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in _ESCAPE.sub("", self.raw).replace("\r\n", "\n").split("\n")]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def on_terminal(commands: Commands, *args: str, columns: int) -> Screen:
    """Run `takara-sync ARGS` on a terminal of 40 lines and so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    scope = ("-n", commands.namespace) if commands.namespace else ()
    process = subprocess.Popen(
        [COMMAND, *args, *scope],
        env=commands.environment() | {"TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    raw = _all_of(ours)
    return Screen(process.wait(10), raw)


def _all_of(terminal: int, seconds: float = 60) -> str:
    """Everything until the other side has closed it."""
    chunks, end = [], time.monotonic() + seconds
    try:
        while select.select([terminal], [], [], max(0.0, end - time.monotonic()))[0]:
            chunk = os.read(terminal, 65536)
            if not chunk:
                break
            chunks.append(chunk)
    except OSError:  # EIO: nobody has it open any more
        pass
    finally:
        os.close(terminal)
    return b"".join(chunks).decode(errors="replace")
