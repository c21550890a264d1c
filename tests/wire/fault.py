"""What a fault is: the answer that a request gets, and how the request has to end with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.wire.answers import Answer
    from tests.wire.sick import SickServer

Ends = Literal["well", "failed", "stopped", "late"]
"""The request ends well; has failed, which costs its Takara or, in a list, the pass; stops the pass; is waited for."""


@dataclass(frozen=True)
class Fault:
    """Strikes one call of the pass, each time that it is made; with `turn`, and in a storm, everything from then on.

    tries: how often the call is made before it has failed. other: the calls whose number that is not.
    turn: what happens to the server when the call is made for the first time; it gets `answer`, nobody else does.
    conflict: it makes the pass read and decide again. breaks: the answer is lost, and with it whether the call was
    done. wire: how the server is reached.
    """

    answer: Answer
    ends: Ends = "failed"
    tries: int = 4
    other: Mapping[str, int] = field(default_factory=dict)
    turn: Callable[[SickServer], None] | None = None
    storm: bool = False
    conflict: bool = False
    breaks: bool = False
    wire: Literal["http", "tls", "proxy"] = "http"

    def tries_of(self, call: str) -> int:
        return self.other.get(call, self.tries)

    @property
    def lasts(self) -> bool:
        """Whether everything suffers from then on."""
        return self.storm or self.turn is not None
