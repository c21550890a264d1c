"""The answers of a real API server for three Takaras, from `python -m benchmarks.generated.recording`."""

from __future__ import annotations

from pathlib import Path

import msgspec

FILE = Path(__file__).with_name("recorded.json")
NAMESPACE, TAKARAS, SIZE = "recorded", 3, 3


class Recording(msgspec.Struct, frozen=True):
    """Bodies, as text. new: the lists before the first pass. settled: two pages of each list after the last one.

    applied, status: the answers to the first apply and to the first status write.
    """

    new: dict[str, str]
    settled: dict[str, tuple[str, str]]
    applied: str
    status: str


def load() -> Recording:
    """The recording of the repository."""
    return msgspec.json.decode(FILE.read_bytes(), type=Recording)
