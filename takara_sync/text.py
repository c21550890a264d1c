"""Text for Kubernetes and terminals. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

MESSAGE_BYTES = 1024


def one_line(text: str) -> str:
    """`text` for the message of a condition or a line on a terminal: printable, one line, at most 1 KiB.

    Text from a cluster can contain line breaks, terminal escapes and characters that reverse the direction of text.
    Every character that is not printable becomes a space.
    """
    printable = text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(printable.split())
    if len(line.encode()) <= MESSAGE_BYTES:
        return line
    return line.encode()[: MESSAGE_BYTES - 3].decode(errors="ignore") + "..."


def canonical(value: Any) -> bytes:
    """The canonical JSON of a value: sorted keys, no white space."""
    return msgspec.json.encode(value, order="sorted")


def digest(value: Any) -> str:
    """The SHA-256 of the canonical JSON of a value, in hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def rfc3339(moment: datetime) -> str:
    """A time in RFC 3339 as in Kubernetes: UTC, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def some(names: Iterable[object], most: int = 20) -> str:
    """`a, b and 7 more`: a list of names for a message, with at most `most` of them."""
    every = [str(name) for name in names]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return f"{', '.join(every[:most])}{more}"
