"""When to try again after a failure. Pure."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime, timedelta

from takara_sync.text import rfc3339

SHORTEST = timedelta(minutes=10)
LONGEST = timedelta(days=1)
TIMES_MAX = 1000
"""Upper bound for a recorded number of tries; the wait is at its longest long before."""

REJECTED_PERIOD = timedelta(minutes=5)
_SKEW = timedelta(minutes=10)


def wait_after(times: int) -> timedelta:
    """How long to wait after this many tries: 10 minutes, 20, 40 ... up to a day."""
    doublings = min(max(times, 1) - 1, 10)
    return min(SHORTEST * (1 << doublings), LONGEST)


def elapsed(at: str, now: datetime) -> timedelta:
    """The time since a recorded RFC 3339 time; `timedelta.max` if that is malformed or in the future."""
    try:
        since = now - _moment(at)
    except ValueError:
        return timedelta.max
    return since if since >= -_SKEW else timedelta.max


def next_try(at: str, times: int) -> str:
    """The time of the next try, in RFC 3339, after a recorded time and this many tries."""
    return rfc3339(_moment(at) + wait_after(times))


def _moment(at: str) -> datetime:
    """A recorded time; without a time zone it is in UTC. Raises ValueError if it is malformed."""
    moment = datetime.fromisoformat(at)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def rejected_is_due(uid: str, now: datetime, interval: timedelta | None) -> bool:
    """Whether this pass of a loop repeats a rejected write: once in 5 minutes, at a different time for each object.

    interval: the time since the last pass; None for a single pass, which tries everything. The time follows from the
    uid, so nothing is recorded: a status update for each try would cost as much as the try.
    """
    if interval is None:
        return True
    period = REJECTED_PERIOD.total_seconds()
    moment = now.timestamp() + zlib.crc32(uid.encode()) % period
    return moment // period != (moment - interval.total_seconds()) // period
