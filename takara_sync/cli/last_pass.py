"""The last pass of an installed copy, in a ConfigMap of its own namespace (`--last-pass`).

The manifests create this ConfigMap without data, and grant the right to patch it and no other. It is written at the end
of the process, and once a minute in a loop. This never changes a pass or its exit code: a failure is one WARNING.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self
from urllib.parse import quote

import msgspec

from takara_sync import __version__
from takara_sync.deadline import Deadline
from takara_sync.errors import NotFound, TakaraSyncError
from takara_sync.kube.api import Api
from takara_sync.kube.response import MERGE_PATCH, Request
from takara_sync.objects import FIELD_MANAGER
from takara_sync.report import Exit, Report, summary
from takara_sync.sync import utcnow
from takara_sync.text import one_line, rfc3339

log = logging.getLogger("takara_sync")

PERIOD = 60.0
"""Seconds between two writes of a loop."""
SECONDS = 1.5
"""How long a write may take: so much later the process ends after SIGTERM, at most."""

_BUG = "A bug ended takara-sync; its log has the traceback."
_HANGS = "The pass did not end, long after its deadline; the log says where it hangs."


class LastPass:
    """Records passes. As a context manager, it writes what is not written yet when the process ends.

    where: `NAMESPACE/NAME` of the ConfigMap; with None nothing is recorded. api: the connection to use. interval: the
    seconds between two passes; None for a single pass. clock: monotonic, in seconds.
    """

    def __init__(
        self,
        where: str | None = None,
        api: Callable[[], Api] = Api.connect,
        interval: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._where, self._api, self._interval, self._clock = where, api, interval, clock
        self._written = clock()
        self._last_end = utcnow()
        self._unwritten: dict[str, str] = {}
        self._failed = False

    def ended(self, report: Report, code: Exit) -> None:
        """Remember this pass. code: the exit code of the process, if it ended now."""
        end = report.started + timedelta(seconds=report.seconds)
        words = summary(report) if report.error is None else f"{summary(report)}; {report.error}"
        self._remember(report.started, end, code, words)
        self._unwritten["counts"] = msgspec.json.encode({str(key): n for key, n in report.counts.items()}).decode()

    def write_if_due(self, pause: float) -> None:
        """Write, unless the next pass, `pause` seconds from now, is soon enough."""
        if self._clock() + pause > self._written + PERIOD:
            self.write()

    def write(self) -> None:
        """Write the last pass, if it is not written yet. Never raises."""
        if self._where is None or not self._unwritten:
            return
        namespace, name = (quote(part, safe="") for part in self._where.split("/"))
        path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
        body = {"data": self._unwritten}
        request = Request("PATCH", path, (("fieldManager", FIELD_MANAGER),), body, MERGE_PATCH)
        self._written, self._unwritten = self._clock(), {}
        try:
            self._api().send(request, Deadline(SECONDS), tries=1)
            self._failed = False
        except TakaraSyncError as error:
            if not self._failed:  # a loop would repeat it every minute
                log.warning("the last pass could not be recorded in ConfigMap %s: %s", self._where, _said(error))
            self._failed = True

    def hangs(self) -> None:
        """Write that the process ends because its pass does not."""
        self._remember(self._last_end, utcnow(), Exit.BUG, _HANGS)
        self.write()

    def _remember(self, start: datetime, end: datetime, code: Exit, words: str) -> None:
        self._last_end = end
        data = {"start": rfc3339(start), "end": rfc3339(end), "exit": str(int(code)), "result": one_line(words)}
        if code == Exit.OK:
            data["lastSuccess"] = data["end"]
        if self._interval is not None:
            data["interval"] = f"{self._interval:g}"
        self._unwritten = data | {"version": __version__, "counts": "{}"}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, TakaraSyncError):
            self._remember(self._last_end, utcnow(), Exit.BUG, _BUG)
        self.write()


def _said(error: TakaraSyncError) -> str:
    hint = "Apply the manifests of this version again; they contain it." if isinstance(error, NotFound) else error.hint
    return one_line(str(TakaraSyncError(error.message, hint)))
