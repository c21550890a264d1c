"""Where a pass says how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called with a step of the pass, how many of its items are done, and of how many; None while that is unknown.

Any thread of the pass may call it, once for each page of a list and for each written object. It must not block.
"""
