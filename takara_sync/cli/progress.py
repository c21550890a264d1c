"""A bar on the terminal for a pass that takes more than a second."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from takara_sync.cluster import Cluster, Wrapper
from takara_sync.deadline import Deadline
from takara_sync.objects import Deployment, Listing, Takara

_PATIENCE = 1.0  # seconds


class Shown(Wrapper):
    """A cluster whose writes are counted on a bar; it shows itself after a second and leaves nothing behind."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        columns = (TextColumn("writing"), BarColumn(), TextColumn("{task.completed}"), TimeElapsedColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=None)
        self._patience = threading.Timer(_PATIENCE, self._bar.start)

    def __enter__(self) -> Shown:
        self._patience.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._patience.cancel()
        self._patience.join()
        if self._bar.live.is_started:
            self._bar.stop()

    # -------------------------------------------------------------- what is counted

    def takaras(self, deadline: Deadline) -> Listing[Takara]:
        found = super().takaras(deadline)
        self._bar.update(self._task, total=2 * len(found.items))  # at most an apply and a status each
        return found

    def create(self, manifest: dict[str, Any], deadline: Deadline) -> Deployment:
        created = super().create(manifest, deadline)
        self._bar.advance(self._task)
        return created

    def apply(self, deployment: Deployment, manifest: dict[str, Any], deadline: Deadline) -> Deployment:
        applied = super().apply(deployment, manifest, deadline)
        self._bar.advance(self._task)
        return applied

    def write_status(self, takara: Takara, patch: Sequence[dict[str, Any]], deadline: Deadline) -> None:
        super().write_status(takara, patch, deadline)
        self._bar.advance(self._task)
