"""Waiting for a server: short naps, a bound, and an error that says what was still missing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

START_SECONDS = 60.0  # a start takes about one; a busy machine with several workers needs more
SETTLE_SECONDS = 60.0


def wait_until(missing: Callable[[], str], *, within: float, every: float = 0.01) -> None:
    """Returns as soon as missing() has nothing to say, asking every `every` seconds.

    Raises TimeoutError with its last words when that takes longer than `within` seconds.
    """
    end = time.monotonic() + within
    while words := missing():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {within:g} s: {words}")
        time.sleep(every)
