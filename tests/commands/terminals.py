"""What a command writes to a terminal."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ESCAPE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[@-_])")


@dataclass(frozen=True)
class Screen:
    """What came out, byte for byte, and without its escape sequences."""

    code: int
    raw: str

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in _ESCAPE.sub("", self.raw).replace("\r\n", "\n").split("\n")]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)
