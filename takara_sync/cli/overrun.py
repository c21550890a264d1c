"""Ends the process if a pass continues long after its deadline, and logs where each thread is.

A deadline ends every wait and every request of a pass, so this is a bug, or the machine stood still. This replaces a
liveness probe, which could not distinguish a busy pass from one that hangs.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from takara_sync.deadline import Deadline
from takara_sync.report import Exit

log = logging.getLogger("takara_sync")

SECONDS = 10.0  # after the deadline: for running requests, and for the garbage of a large pass
LAST_SECONDS = 2.0  # for the last words


@contextmanager
def watch(
    deadline: Deadline, grace: float = SECONDS, last_words: Callable[[], object] = lambda: None
) -> Iterator[None]:
    """End the process with 70 if the `with` block takes `grace` seconds longer than the deadline.

    last_words: called before that, in a thread of its own, for at most LAST_SECONDS.
    """
    seconds = min(deadline.seconds + grace, threading.TIMEOUT_MAX)
    timer = threading.Timer(seconds, _end, (deadline.seconds, last_words))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end(seconds: float, last_words: Callable[[], object]) -> NoReturn:
    """Log the stack of every thread, one line per frame, outermost first, and exit."""
    log.critical("the pass did not end, and its deadline of %g s is long over: exit 70", seconds)
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        for line in traceback.format_stack(frame):
            log.critical("thread %s is here: %s", names.get(ident, ident), line)
    words = threading.Thread(target=last_words, daemon=True)
    words.start()
    words.join(LAST_SECONDS)  # it may need what the pass holds
    os._exit(Exit.BUG)  # every other way to exit would wait for the thread that hangs
