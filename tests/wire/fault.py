"""What a fault is: the response that a request gets, and how the request has to end with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from takara_sync.kube.api import TRIES as TRIES_OF_A_READ
from takara_sync.reconcile import TRIES
from tests.wire.asked import CALLS, LISTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.wire.answers import Answer
    from tests.wire.cells import FaultyServer

Ends = Literal["well", "failed", "stopped", "late"]
"""The request ends well; fails, which costs its Takara or, in a list, the pass; stops the pass; is waited for."""

_AFTER_A_CONFLICT = TRIES - 1  # the first try of the take-over, and of the reads by name, is a create that conflicts
_WRITES = dict.fromkeys(("create", "apply", "status"), TRIES) | {"take-over": _AFTER_A_CONFLICT}
_READS = dict.fromkeys(("takara again", "deployment again"), _AFTER_A_CONFLICT)

ONCE = dict.fromkeys(CALLS, 1)
CONFLICTS = ONCE | _WRITES | _READS
EXPIRES = CONFLICTS | dict.fromkeys(LISTS, 3)
RETRIED = (
    dict.fromkeys((*LISTS, "look-up"), TRIES_OF_A_READ)
    | _WRITES
    | {call: tries * TRIES_OF_A_READ for call, tries in _READS.items()}
)


@dataclass(frozen=True)
class Fault:
    """Strikes one call of the pass, each time that it is made; with `turn`, and in a storm, everything from then on.

    tries: how often each call is made before it has failed. turn: what happens to the server when the call is made for
    the first time; it gets `answer`, nobody else does. breaks: the response is lost, and with it whether the call was
    executed. wire: how the server is reached.
    """

    answer: Answer
    ends: Ends = "failed"
    tries: Mapping[str, int] = field(default_factory=lambda: RETRIED)
    turn: Callable[[FaultyServer], None] | None = None
    storm: bool = False
    breaks: bool = False
    wire: Literal["http", "tls", "proxy"] = "http"

    @property
    def lasts(self) -> bool:
        """Whether everything suffers from then on."""
        return self.storm or self.turn is not None
