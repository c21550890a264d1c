"""A dead-man's switch: somebody elsewhere is told that a pass began, and how it ended.

Nothing of it changes a pass: it is sent from a thread of its own, has little time, and its failure is one WARNING
that does not show the URL, which is a secret.
"""

from __future__ import annotations

import logging
import queue
import threading
from urllib.parse import urlsplit, urlunsplit

from takara_sync.report import Exit

log = logging.getLogger("takara_sync")

_SECONDS = 3.0
_TRIES = 2


class Heartbeat:
    """Calls URL/start, then URL or URL/fail, in this order. Without a URL it does nothing."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._calls: queue.SimpleQueue[tuple[str, str, threading.Event]] = queue.SimpleQueue()
        if url:
            threading.Thread(target=self._work, name="heartbeat", daemon=True).start()

    def start(self) -> None:
        """Say that a pass begins; does not wait."""
        self._call("start", "")

    def end(self, code: Exit, summary: str) -> None:
        """Say how the pass ended, with `summary` as the body; waits until that is said, a few seconds at most."""
        self._call("" if code == Exit.OK else "fail", summary).wait(2 * _TRIES * _SECONDS)

    def _call(self, suffix: str, body: str) -> threading.Event:
        done = threading.Event()
        if self._url:
            self._calls.put((_with_suffix(self._url, suffix), body, done))
        else:
            done.set()
        return done

    def _work(self) -> None:
        while True:
            url, body, done = self._calls.get()
            _post(url, body)
            done.set()


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
