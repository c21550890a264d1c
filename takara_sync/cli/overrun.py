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

from takara_sync.cli import termination
from takara_sync.deadline import Deadline
from takara_sync.report import Exit

log = logging.getLogger("takara_sync")

SECONDS = 10.0  # after the deadline: for running requests, and for the garbage of a large pass
LAST_SECONDS = 2.0  # for the last words


@contextmanager
def watch(
    deadline: Deadline,
    message_path: str | None = None,
    grace: float = SECONDS,
    last_words: Callable[[], object] = lambda: None,
) -> Iterator[None]:
    """End the process with 70 if the `with` block takes `grace` seconds longer than the deadline.

    message_path: of the termination message; see `termination.write`. last_words: called before the end, in a thread of
    its own, for at most LAST_SECONDS.
    """
    seconds = min(deadline.seconds + grace, threading.TIMEOUT_MAX)
    timer = threading.Timer(seconds, _end, (deadline.seconds, message_path, last_words))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end(seconds: float, message_path: str | None, last_words: Callable[[], object]) -> NoReturn:
    """Log the stack of every thread, one line per frame, outermost first, and exit."""
    what = f"the pass did not end, and its deadline of {seconds:g} s is long over"
    termination.write(message_path, termination.message(Exit.BUG, f"{what}; the log says where each thread is"))
    log.critical("%s: exit 70", what)
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        for line in traceback.format_stack(frame):
            log.critical("thread %s is here: %s", names.get(ident, ident), line)
    words = threading.Thread(target=last_words, daemon=True)
    words.start()
    words.join(LAST_SECONDS)  # it may need what the pass holds
    os._exit(Exit.BUG)  # every other way to exit would wait for the thread that hangs
