"""A dead-man's switch: a server elsewhere hears that a pass began, and how it ended.

A heartbeat changes no pass: it is sent from a thread of its own, a pass waits for it for a second at most, and its
failure is one WARNING that does not show the URL, which is a secret.
"""

from __future__ import annotations

import logging
import queue
import threading
from urllib.parse import urlsplit, urlunsplit

from takara_sync.report import Exit

log = logging.getLogger("takara_sync")

WAIT = 1.0  # seconds, the most that a pass or the end of the process is delayed
_SECONDS = 3.0  # of one try
_TRIES = 2
_QUEUED = 2  # calls that wait for one in hand: the start and the end of a pass


class Heartbeat:
    """Calls URL/start, then URL or URL/fail, in this order. Without a URL it does nothing."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._calls: queue.Queue[tuple[str, str, threading.Event]] = queue.Queue(_QUEUED)
        if url:
            threading.Thread(target=self._work, name="heartbeat", daemon=True).start()

    def start(self) -> None:
        """Say that a pass begins; does not wait."""
        self._call("start", "")

    def end(self, code: Exit, summary: str) -> None:
        """Say how the pass ended, with `summary` as the body; waits until that is sent, but no longer than WAIT."""
        sent = self._call("" if code == Exit.OK else "fail", summary)
        if not sent.wait(WAIT):
            log.warning("the heartbeat was not answered within %g s; the pass goes on without it", WAIT)

    def _call(self, suffix: str, body: str) -> threading.Event:
        sent = threading.Event()
        if self._url and not self._calls.full():
            self._calls.put((_with_suffix(self._url, suffix), body, sent))
        else:
            sent.set()  # a call behind two that are not answered would come too late to say anything
        return sent

    def _work(self) -> None:
        while True:
            url, body, sent = self._calls.get()
            _post(url, body)
            sent.set()


def _with_suffix(url: str, suffix: str) -> str:
    parts = urlsplit(url)
    path = f"{parts.path.rstrip('/')}/{suffix}" if suffix else parts.path
    return urlunsplit(parts._replace(path=path))


def _post(url: str, body: str) -> None:
    import requests  # noqa: PLC0415 - only where there is a heartbeat

    problem = ""
    for _ in range(_TRIES):
        try:
            answer = requests.post(url, data=body.encode(), timeout=_SECONDS, allow_redirects=False)
        except requests.RequestException as error:
            problem = type(error).__name__  # its text has the URL
        else:
            if answer.ok and not answer.is_redirect:
                return
            problem = f"answered {answer.status_code}"
    log.warning("the heartbeat was not delivered: %s", problem)
