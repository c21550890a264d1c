"""A bar on the terminal during a pass of more than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE = 1.0  # seconds


@contextmanager
def bar() -> Iterator[None]:
    """Show that the pass runs, and for how long already; at the end the bar disappears. Only on a terminal."""
    if not (sys.stderr.isatty() and sys.stdout.isatty()):
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - only on a terminal
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("running a pass"), BarColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.add_task("", total=None)
    patience = threading.Timer(_PATIENCE, progress.start)
    patience.start()
    try:
        yield
    finally:
        patience.cancel()
        patience.join()
        if progress.live.is_started:
            progress.stop()
