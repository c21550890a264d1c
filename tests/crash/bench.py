"""Where a story can be told: what the trials ask of the simulator and of a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from takara_sync import Report
    from takara_sync.kube.answers import Request
    from tests.crash.process import Process
    from tests.crash.state import State


class Bench(Protocol):
    """A situation that one can go back to.

    start: the moment before the first pass. exact: nothing is at work but the tool, so that each write counts.
    breaches: the rules that the tool has broken since the last `back_to`.
    """

    @property
    def exact(self) -> bool: ...

    @property
    def start(self) -> Any: ...

    @property
    def breaches(self) -> list[str]: ...

    def moment(self) -> Any:
        """What `back_to` takes."""

    def back_to(self, moment: Any) -> None: ...

    def settle(self) -> bool:
        """The controllers do all that they will do; whether another pass has to look at that."""

    def state(self) -> State: ...

    def run(self, process: Process, workers: int = 1) -> Report | None:
        """A pass of the real code; None where it was stopped."""

    def answer(self, request: Request) -> object:
        """The server gets a request after all."""
