"""A dead-man's switch: reports the start and the end of each pass to a URL.

The heartbeat never changes a pass: its own thread sends it, a pass waits for it for at most one second, and a failure
is one WARNING without the URL, because the URL is a secret.
"""

from __future__ import annotations

import logging
import queue
import threading
from urllib.parse import urlsplit

from takara_sync.report import Exit

log = logging.getLogger("takara_sync")

WAIT = 1.0  # seconds: the maximum delay of a pass or of the end of the process
_SECONDS = 3.0  # timeout of a call
_QUEUED = 2  # calls that wait for a running one: the start and the end of a pass


class Heartbeat:
    """Calls URL/start, then URL or URL/fail, in this order. Without a URL it does nothing."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._calls: queue.Queue[tuple[str, str, threading.Event]] = queue.Queue(_QUEUED)
        if url:
            threading.Thread(target=self._work, name="heartbeat", daemon=True).start()

    def start(self) -> None:
        """Report that a pass begins; does not wait."""
        self._call("start", "")

    def end(self, code: Exit, summary: str) -> None:
        """Report the end of the pass, with `summary` as the body. Waits for the response, at most WAIT seconds."""
        sent = self._call("" if code == Exit.OK else "fail", summary)
        if not sent.wait(WAIT):
            log.warning("the heartbeat was not answered within %g s; takara-sync continues", WAIT)

    def _call(self, suffix: str, body: str) -> threading.Event:
        sent = threading.Event()
        if self._url and not self._calls.full():
            self._calls.put((_with_suffix(self._url, suffix), body, sent))
        else:
            sent.set()  # two calls wait already, so this one would be sent too late
        return sent

    def _work(self) -> None:
        while True:
            url, body, sent = self._calls.get()
            _post(url, body)
            sent.set()


def _with_suffix(url: str, suffix: str) -> str:
    parts = urlsplit(url)
    return parts._replace(path=f"{parts.path.rstrip('/')}/{suffix}" if suffix else parts.path).geturl()


def _post(url: str, body: str) -> None:
    import requests  # noqa: PLC0415 - only if there is a heartbeat

    try:
        requests.post(url, data=body.encode(), timeout=_SECONDS).raise_for_status()
    except requests.RequestException as error:  # its text contains the URL
        problem = type(error).__name__ if error.response is None else f"status {error.response.status_code}"
        log.warning("the heartbeat was not delivered: %s", problem)
