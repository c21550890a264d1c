"""A pass that does not end although its deadline has long passed: the process says where it stands, and ends.

A deadline ends every wait and every request of a pass, so this is a bug, or a machine that stood still. It replaces
a liveness probe, which could not distinguish a busy pass from one that hangs.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from takara_sync.deadline import Deadline
from takara_sync.report import Exit

log = logging.getLogger("takara_sync")

SECONDS = 10.0  # what a pass may overrun: requests in hand and the garbage of a big one


@contextmanager
def watch(deadline: Deadline, grace: float = SECONDS) -> Iterator[None]:
    """End the process with 70 when the `with` block is not left within the deadline and `grace` seconds more."""
    timer = threading.Timer(min(deadline.seconds + grace, threading.TIMEOUT_MAX), _end, (deadline.seconds,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end(seconds: float) -> NoReturn:
    """Log the stack of every thread, a line per frame, outermost first, and exit."""
    try:
        log.critical("the pass has not ended although its deadline of %g s is long over: exit 70", seconds)
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        for ident, frame in sys._current_frames().items():
            for line in traceback.format_stack(frame):
                log.critical("thread %s stands here: %s", names.get(ident, ident), line)
        sys.stderr.flush()
    finally:
        os._exit(Exit.BUG)  # the thread that hangs would hold up every other way out
