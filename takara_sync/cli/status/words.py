"""Times and values in words. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from takara_sync.text import one_line, rfc3339

_UNITS = (("d", 86400), ("h", 3600), ("m", 60))
_FROM = 2
"""A unit is used from two of it on: 90s, 2m ... 119m, 2h."""


def seconds_since(at: str, now: datetime) -> float | None:
    """Seconds from an RFC 3339 time until `now`; negative if it is in the future; None if it is no time."""
    parsed = _parsed(at)
    return None if parsed is None else (now - parsed).total_seconds()


def _parsed(at: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def moment(at: str, now: datetime) -> str:
    """`2026-01-01T00:00:00Z (5m ago)`; `at an unknown time` if it is no time."""
    parsed, since = _parsed(at), seconds_since(at, now)
    if parsed is None or since is None:
        return "at an unknown time"
    return f"{rfc3339(parsed)} ({age(since)} ago)" if since >= 0 else f"{rfc3339(parsed)} (in {age(-since)})"


def age(seconds: float) -> str:
    """`90s`, `5m`, `3h` or `2d`."""
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= _FROM * size), ("s", 1))
    return f"{int(seconds // size)}{unit}"


def shown(value: Any) -> str:
    """A value of a field: a string unchanged, `none` for no value, anything else as JSON."""
    text = value if isinstance(value, str) and value else "none" if value is None else None
    return one_line(msgspec.json.encode(value).decode() if text is None else text)


def counted(number: int, noun: str) -> str:
    """`1 Takara`, `2 Takaras`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
