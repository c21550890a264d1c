"""What is written to stderr: the log, and on a terminal one line that says what a pass is doing."""

from __future__ import annotations

import logging
import shutil
import sys
from collections import Counter
from time import monotonic

from takara_sync.text import shortened

_QUIET_SECONDS = 0.5  # a pass that takes no longer needs no line
_BETWEEN_SECONDS = 0.1
_ERASE = "\r\x1b[K"


class Screen(logging.StreamHandler):  # type: ignore[type-arg]
    """A handler for the log. Records with `retry`, the kind of a failure, become one line for each kind.

    live: whether stderr is a terminal with escape sequences. Then the retries are counted in the line of progress.
    Otherwise the first of each kind is logged at once, because somebody may be waiting.
    """

    def __init__(self, *, live: bool) -> None:
        super().__init__(sys.stderr)
        self._live = live
        self._retries = Counter[str]()
        self._last: dict[str, logging.LogRecord] = {}
        self._doing, self._drawn = "", False
        self._next = monotonic() + _QUIET_SECONDS

    def emit(self, record: logging.LogRecord) -> None:
        kind: str = getattr(record, "retry", "")
        if kind:
            self._retries[kind] += 1
            self._last[kind] = record
            if self._live or self._retries[kind] > 1:
                self._draw()
                return
        else:
            self._log_retries()
        self._log(record)

    def progress(self, what: str, done: int, total: int | None) -> None:
        """The `Progress` of a pass."""
        if self._live:
            with self.lock:  # type: ignore[union-attr] # a handler has one from its start
                self._doing = f"{what}: {done}{'' if total is None else f' of {total}'}"
                if monotonic() >= self._next:
                    self._draw()

    def show(self, text: str) -> None:
        """Show this text until there is something else to show."""
        if self._live:
            with self.lock:  # type: ignore[union-attr]
                self._doing = text
                self._draw()

    def finish(self) -> None:
        """The pass is over: log the retries, and remove the line."""
        with self.lock:  # type: ignore[union-attr]
            self._log_retries()
            self._erase()
            self._doing, self._next = "", monotonic() + _QUIET_SECONDS

    def _log_retries(self) -> None:
        found = dict(self._retries)
        self._retries.clear()  # first, because each line of the log draws the line of progress again
        for kind, count in found.items():
            record = self._last[kind]
            if count > 1:
                record.msg, record.args = "%d x %s, trying again", (count, kind)
            if count > 1 or self._live:
                self._log(record)

    def _log(self, record: logging.LogRecord) -> None:
        drawn = self._drawn
        self._erase()
        super().emit(record)
        if drawn:
            self._draw()

    def _draw(self) -> None:
        """Write the line again: what is done, and what is tried again."""
        if self._live:
            again = (f"{count} x {kind}, trying again" for kind, count in self._retries.items())
            text = shortened("; ".join(filter(None, (self._doing, *again))), shutil.get_terminal_size().columns - 1)
            self.stream.write(f"{_ERASE}{text}")
            self.stream.flush()
            self._drawn, self._next = True, monotonic() + _BETWEEN_SECONDS

    def _erase(self) -> None:
        if self._drawn:
            self.stream.write(_ERASE)
            self.stream.flush()
        self._drawn = False


def screen() -> Screen:
    """The handler of this process; one that shows nothing, if there is none."""
    found = (handler for handler in logging.getLogger().handlers if isinstance(handler, Screen))
    return next(found, None) or Screen(live=False)
