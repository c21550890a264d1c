"""The deadline of a pass."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from takara_sync.errors import CutShort

_STATUS_SHARE = 0.3  # the part of a pass for the list of pods and the status updates


class Deadline:
    """A pass must end after `seconds`, or at once if another thread calls `stop`.

    `clock` returns seconds. It is monotonic, so that a jump of the wall clock has no effect.
    """

    def __init__(self, seconds: float = float("inf"), clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds
        self._stopped = threading.Event()
        self._why: list[str] = []

    def for_writes(self) -> Deadline:
        """The deadline for writes to Deployments: the rest of the pass is for pods and statuses.

        Without a status update the next pass would repeat the writes of this pass. A stop of the pass also stops this.
        """
        return self._earlier(self._end - _STATUS_SHARE * self.seconds if self.seconds != float("inf") else self._end)

    def at_most(self, seconds: float) -> Deadline:
        """A deadline in so many seconds, if this one is not earlier. A stop of the pass also stops it."""
        return self._earlier(min(self._end, self._clock() + seconds))

    def _earlier(self, end: float) -> Deadline:
        earlier = Deadline(self.seconds, self._clock)
        earlier._end, earlier._stopped, earlier._why = end, self._stopped, self._why
        return earlier

    def stop(self, why: str) -> None:
        """Start no further request. Safe to call from any thread, but not from a signal handler."""
        self._why.append(why)
        self._stopped.set()

    def left(self) -> float:
        """Seconds left to start a request; 0 after a stop."""
        return 0.0 if self._stopped.is_set() else self.left_for_requests()

    def left_for_requests(self) -> float:
        """Seconds left for a running request: it may finish after a stop."""
        return max(0.0, self._end - self._clock())

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    def check(self, cause: Exception | None = None) -> None:
        """Raise CutShort if no further request may start. cause: why the last one has to be sent again."""
        if self._stopped.is_set():
            raise CutShort(f"The pass was cut short by {self._why[0]}", "The next pass goes on from there.") from cause
        if self.left() <= 0:
            raise CutShort(f"The pass was cut short by its deadline of {self.seconds:g} s") from cause

    def wait(self, seconds: float) -> None:
        """Sleep, at most until the deadline or a stop."""
        self._stopped.wait(max(0.0, min(seconds, self.left(), threading.TIMEOUT_MAX)))
