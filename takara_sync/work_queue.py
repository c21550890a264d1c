"""One queue for concurrent steps: namespaces take turns; with backoff and a deadline."""

from __future__ import annotations

import bisect
import itertools
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, NamedTuple, Protocol, TypeVar

from takara_sync.deadline import Deadline
from takara_sync.errors import CutShort
from takara_sync.objects import Key
from takara_sync.progress import Progress

BACKOFF_SECONDS = 0.5
_BACKOFF_MAX = 8.0
_GLANCE_SECONDS = 0.2  # how long an idle worker may take to notice a stop


class Keyed(Protocol):
    """An item of the queue."""

    @property
    def key(self) -> Key: ...


T = TypeVar("T", bound=Keyed)


class Step(NamedTuple):
    """The result of a step.

    retry_after: seconds until the next try; None: no more tries. refused: the server refused the connection, so every
    other step would fail too. timed_out: no response came in time. rejected: the server rejected the write.
    """

    retry_after: float | None = None
    refused: bool = False
    timed_out: bool = False
    rejected: bool = False


DONE = Step()


def counted(step: Callable[[T], Step], progress: Progress | None, what: str, total: int) -> Callable[[T], Step]:
    """The same step; it tells `progress` about each item that is done."""
    if progress is None:
        return step
    done = itertools.count(1)

    def told(item: T) -> Step:
        result = step(item)
        if result.retry_after is None:
            progress(what, next(done), total)
        return result

    return told


def backoff(tries: int) -> float:
    """Seconds to wait after this number of tries, with jitter: about 0.5, 1, 2 ... at most 8."""
    longest = min(_BACKOFF_MAX, BACKOFF_SECONDS * 2.0 ** min(max(tries - 1, 0), 10))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreads requests, keeps no secret


class WorkQueue(Generic[T]):
    """Runs a step for each item; never two steps for one item at once.

    Namespaces take turns, so that one namespace does not delay the others. While others wait, one namespace uses at
    most half of the workers. After one of its steps timed out it uses one worker, until a step gets a response. A
    refused connection pauses all workers. rejections: after this number of rejected writes the rest of a namespace
    waits for the next run, because a quota may reject a thousand writes in the same way (None: no limit).
    """

    def __init__(self, items: Iterable[T], workers: int, deadline: Deadline, rejections: int | None = None) -> None:
        self._workers = workers
        self._deadline = deadline
        self._changed = threading.Condition()
        self._ready: dict[str, deque[T]] = {}
        self._later: list[tuple[float, T]] = []
        self._active: list[str] = []
        self._rejected: Counter[str] = Counter()
        self._rejections = rejections
        self._slow: set[str] = set()
        self._pause, self._refusals = 0.0, 0
        self._cut = False
        for item in items:
            self._add(item)

    def run(self, step: Callable[[T], Step]) -> bool:
        """Run the step for every item until the queue is empty, or until the deadline; running steps always complete.

        Returns whether the queue is empty.

        Raises:
            PassStopped: a step raised it; no further step starts then.
        """
        if self._ready:
            with ThreadPoolExecutor(self._workers, "takara-sync") as pool:
                running = [pool.submit(self._work, step) for _ in range(self._workers)]
            for error in filter(None, (each.exception() for each in running)):
                if not isinstance(error, CutShort):
                    raise error
        return not (self._cut or self._ready or self._later)

    def _work(self, step: Callable[[T], Step]) -> None:
        try:
            while (item := self._take()) is not None:
                self._finish(item, step(item))
        except BaseException:  # of any kind, because no other worker may wait for this one
            with self._changed:
                self._cut = True
                self._changed.notify_all()
            raise

    # -------------------------------------------------------------- taking turns

    def _take(self) -> T | None:
        """The next item; None if there is no more work."""
        with self._changed:
            while True:
                now = time.monotonic()
                if self._cut or self._deadline.left() <= 0:
                    return None
                self._wake(now)
                if now >= self._pause and (found := self._next()) is not None:
                    return found
                if not (self._ready or self._later or self._active):
                    return None
                moments = [now + _GLANCE_SECONDS, *(later[0] for later in self._later[:1]), self._pause]
                self._changed.wait(min(moment - now for moment in moments if moment > now))

    def _add(self, item: T) -> None:
        self._ready.setdefault(item.key.namespace, deque()).append(item)

    def _wake(self, now: float) -> None:
        """Move items to the ready queue if their wait is over."""
        while self._later and self._later[0][0] <= now:
            self._add(self._later.pop(0)[1])

    def _next(self) -> T | None:
        """The first item of the first namespace that may use another worker. That namespace then goes to the end."""
        found = next((name for name in self._ready if self._active.count(name) < self._share(name)), None)
        if found is None:
            return None
        items = self._ready.pop(found)
        item = items.popleft()
        if items:
            self._ready[found] = items
        self._active.append(found)
        return item

    def _share(self, namespace: str) -> int:
        """How many workers this namespace may use."""
        half = max(1, self._workers // 2)
        others_wait = len(self._ready) > 1
        if namespace in self._slow:
            return 1 if others_wait else half
        return half if others_wait else self._workers

    # -------------------------------------------------------------- the result of a step

    def _finish(self, item: T, step: Step) -> None:
        namespace, now = item.key.namespace, time.monotonic()
        with self._changed:
            self._active.remove(namespace)
            if step.timed_out:
                self._slow.add(namespace)
            else:
                self._slow.discard(namespace)
            if step.rejected:
                self._count_rejection(namespace)
            if step.refused:
                self._pause_all(now)
            else:
                self._refusals = 0
            if step.retry_after is not None:
                bisect.insort(self._later, (now + step.retry_after, item), key=lambda each: each[0])
            self._changed.notify_all()

    def _count_rejection(self, namespace: str) -> None:
        self._rejected[namespace] += 1
        if self._rejections is not None and self._rejected[namespace] >= self._rejections:
            self._ready.pop(namespace, None)

    def _pause_all(self, now: float) -> None:
        """Pause all workers. A refusal of a request from before the pause does not extend it."""
        if now >= self._pause:
            self._refusals += 1
            self._pause = now + backoff(self._refusals)
