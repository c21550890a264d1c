"""A dead-man's switch: reports the start and the end of each pass to a URL."""

from __future__ import annotations

import logging
import threading
from urllib.parse import urlsplit

from takara_sync.cli.background import WAIT, Background, post
from takara_sync.report import Exit

log = logging.getLogger("takara_sync")

_WAITING = 2  # calls that wait for a running one: the start and the end of a pass


class Heartbeat:
    """Calls URL/start, then URL or URL/fail, in this order. Without a URL it does nothing."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._background = Background("heartbeat", _WAITING) if url else None

    def start(self) -> None:
        """Report that a pass begins; does not wait."""
        self._call("start", "")

    def end(self, code: Exit, summary: str) -> None:
        """Report the end of the pass, with `summary` as the body. Waits for the response, at most WAIT seconds."""
        sent = self._call("" if code == Exit.OK else "fail", summary)
        if sent and not sent.wait(WAIT):
            log.warning("the heartbeat was not answered within %g s; takara-sync continues", WAIT)

    def _call(self, suffix: str, body: str) -> threading.Event | None:
        if not self._url or not self._background:
            return None
        url = _with_suffix(self._url, suffix)
        return self._background.call(lambda: _post(url, body))


def _with_suffix(url: str, suffix: str) -> str:
    parts = urlsplit(url)
    return parts._replace(path=f"{parts.path.rstrip('/')}/{suffix}" if suffix else parts.path).geturl()


def _post(url: str, body: str) -> None:
    post("the heartbeat was", url, body.encode(), "text/plain; charset=utf-8", follow=True)
