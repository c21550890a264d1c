"""A bar on the terminal for a pass that takes more than a second."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from takara_sync.cluster import Cluster, Wrapper
from takara_sync.objects import Deployment, Listing, Takara

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 1.0  # seconds


class Shown(Wrapper):
    """A cluster whose writes are counted on a bar; it shows itself after a second and leaves nothing behind."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self._lock = threading.Lock()
        self._total = 0
        self._done = 0
        self._bar: Progress | None = None
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Shown:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None
            self._total = -1

    def _show(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - only where a bar is drawn
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        with self._lock:
            if self._total < 0:
                return
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed}"),
                TimeElapsedColumn(),
            )
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task("writing", total=self._total or None, completed=self._done)
            self._bar.start()

    def _count(self) -> None:
        with self._lock:
            self._done += 1
            if self._bar is not None:
                self._bar.update(self._bar.task_ids[0], completed=self._done, total=self._total or None)

    # -------------------------------------------------------------- what is counted

    def takaras(self) -> Listing[Takara]:
        found = super().takaras()
        self._total = 2 * len(found.items)  # at most an apply and a status each
        return found

    def create(self, body: dict[str, Any]) -> Deployment:
        made = super().create(body)
        self._count()
        return made

    def apply(self, deployment: Deployment, body: dict[str, Any]) -> Deployment:
        applied = super().apply(deployment, body)
        self._count()
        return applied

    def tell(self, takara: Takara, patch: Sequence[dict[str, Any]]) -> None:
        super().tell(takara, patch)
        self._count()
