"""The order in which a pass writes the Takaras. Pure.

In the work queue namespaces take turns. This module says with which namespace it begins, and in each namespace with
which name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from takara_sync.attempt import Attempt
from takara_sync.objects import Key
from takara_sync.report import Result

_GOLDEN_RATIO = 0.618033988749895  # its multiples, modulo 1, are spread evenly over any number of passes


def start_at(keys: Collection[Key], now: datetime) -> Key | None:
    """A key that depends on the clock, for the first pass of a process; None if there are no keys."""
    position = (now.timestamp() * _GOLDEN_RATIO) % 1.0
    return sorted(keys)[int(position * len(keys))] if keys else None


def in_turn(attempts: Mapping[Key, Attempt], start: Key | None) -> list[Attempt]:
    """The attempts, beginning with the namespace of `start`, and in each namespace with the name of `start`.

    So each namespace continues from about where the last pass stopped, although only one key is known.
    """
    first = start or Key("", "")
    return [attempts[key] for key in sorted(attempts, key=lambda key: _place(key, first))]


def _place(key: Key, first: Key) -> tuple[bool, str, bool, str]:
    return key.namespace < first.namespace, key.namespace, key.name < first.name, key.name


def next_start(order: Sequence[Attempt], start: Key | None) -> Key | None:
    """The start of the next pass: the first Takara that this pass did not finish, else the start of this pass."""
    unfinished = (attempt.key for attempt in order if attempt.patch or _is_unreached(attempt))
    return next(unfinished, start)


def _is_unreached(attempt: Attempt) -> bool:
    return attempt.result == Result.NOT_REACHED and not attempt.limited
