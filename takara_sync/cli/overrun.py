"""A pass that does not end although its deadline has long passed: the process says where it stands, and ends.

A deadline ends every wait and every request of a pass, so this is a bug, or a machine that stood still. It takes the
place of a liveness probe, which could not tell a busy pass from one that hangs.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from types import FrameType, TracebackType
from typing import NoReturn

from takara_sync.cluster import Deadline
from takara_sync.report import Exit

log = logging.getLogger("takara_sync")

SECONDS = 10.0  # what a pass may overrun: requests in hand and the garbage of a big one
_LONGEST = threading.TIMEOUT_MAX


class Overrun(Exception):
    """Where a thread stood when its pass was long over."""


class Watch:
    """Ends the process with 70 when the `with` block is not left within the deadline and `grace` seconds more."""

    def __init__(self, deadline: Deadline, grace: float = SECONDS) -> None:
        self._seconds = deadline.seconds
        self._timer = threading.Timer(min(deadline.seconds + grace, _LONGEST), self._end)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._timer.cancel()

    def _end(self) -> NoReturn:
        try:
            log.critical("the pass has not ended although its deadline of %g s is long over: exit 70", self._seconds)
            for thread in threading.enumerate():
                if thread.ident != threading.get_ident() and (frame := sys._current_frames().get(thread.ident or 0)):
                    where = Overrun(f"thread {thread.name} stands here")
                    log.critical("%s", where, exc_info=(Overrun, where, _stack(frame)))
            sys.stderr.flush()
        finally:
            os._exit(Exit.BUG)  # the thread that hangs would hold up every other way out


def _stack(frame: FrameType | None) -> TracebackType | None:
    """The stack of a running thread in the form of a traceback, outermost first."""
    trace = None
    while frame is not None:
        trace = TracebackType(trace, frame, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return trace
