"""Lines for whoever watches a run: when, and what is done now."""

from __future__ import annotations

import os
import sys
import time

_STARTED = "TAKARA_SYNC_NODE_STARTED"  # handed down, so that the inside counts from the same moment


def say(line: str) -> None:
    """Prints at once, with the seconds since the run began."""
    started = float(os.environ.setdefault(_STARTED, str(time.monotonic())))
    sys.stdout.write(f"node {time.monotonic() - started:6.1f} s  {line}\n")
    sys.stdout.flush()
