"""What is sent to others than the API server, and never changes a pass.

Each call runs in a thread that does not keep the process alive, a pass waits for it for at most WAIT seconds, and its
failure is one WARNING without the URL, because the URL is a secret.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from http import HTTPStatus

log = logging.getLogger("takara_sync")

WAIT = 1.0  # seconds: the maximum delay of a pass or of the end of the process
_SECONDS = 3.0  # timeout of a call


class Background:
    """Runs calls one after another in a thread of its own. most: how many may wait for a running one."""

    def __init__(self, name: str, most: int) -> None:
        self._calls: queue.Queue[tuple[Callable[[], object], threading.Event]] = queue.Queue(most)
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def call(self, function: Callable[[], object]) -> threading.Event:
        """Returns an event that is set after the call; set at once if too many calls wait and this one is left out."""
        done = threading.Event()
        try:
            self._calls.put_nowait((function, done))
        except queue.Full:  # it would be sent too late
            done.set()
        return done

    def _work(self) -> None:
        while True:
            function, done = self._calls.get()
            function()
            done.set()


def post(what: str, url: str, body: bytes, content_type: str, *, follow: bool) -> None:
    """POST to a secret URL. what: the subject of the warning if that fails.

    follow: follow a redirect, as a GET without the body.
    """
    import requests  # noqa: PLC0415 - only if there is something to send
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    headers = {"Content-Type": content_type}
    try:
        with requests.post(
            url, body, headers=headers, timeout=_SECONDS, allow_redirects=follow, stream=True
        ) as response:
            problem = "" if response.status_code < HTTPStatus.MULTIPLE_CHOICES else f"status {response.status_code}"
    # requests lets some errors of urllib3 through, for example of a host name that is too long.
    except (requests.RequestException, HTTPError, OSError, ValueError) as error:  # its text contains the URL
        problem = type(error).__name__
    if problem:
        log.warning("%s not delivered: %s", what, problem)
