"""One cell of the matrix: a pass of the real command in which one call meets one fault, and what has to hold then."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support.certificates import PROXIED
from tests.wire.answers import greeting
from tests.wire.asked import CALLS, LISTS, WRITES, call_of, concerns
from tests.wire.broken import BROKEN
from tests.wire.command import kubeconfig
from tests.wire.fleet import FLAGS, PAGE, fleet
from tests.wire.server import FaultServer, Wire
from tests.wire.truth import Picture
from tests.wire.wrong import WRONG

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.certificates import Served
    from tests.wire.answers import Answer
    from tests.wire.asked import Asked
    from tests.wire.command import Command, Ended
    from tests.wire.fault import Fault

FAULTS = BROKEN | WRONG
PATIENT = ("--request-timeout", "20s", "--pass-timeout", "30s", "--log-level", "debug")
HURRIED = ("--request-timeout", "500ms", "--pass-timeout", "1500ms", "--log-level", "debug")
UNHURRIED = ("--request-timeout", "3s", "--pass-timeout", "9s", "--log-level", "debug")


@dataclass(frozen=True)
class Cell:
    """A fault, by its name, and the call that it strikes. done: the call is executed, and only its response suffers."""

    name: str
    call: str
    done: bool = False

    @property
    def fault(self) -> Fault:
        return FAULTS[self.name]

    def __str__(self) -> str:
        return f"{self.name} x {self.call}{' (done)' if self.done else ''}"


def cells(fault: str) -> list[Cell]:
    """Every cell of a fault."""
    done = [Cell(fault, call, done=True) for call in WRITES if FAULTS[fault].breaks]
    return [Cell(fault, call) for call in CALLS] + done


def chosen(fault: str, seed: int) -> list[Cell]:
    """Every cell of a fault, but of those that are much alike one: of two second pages, of four calls that are done."""
    draw = random.Random(f"{seed} {fault}")  # noqa: S311 - a choice that can be made again, no secret
    left_out = draw.choice(("more deployments", "more takaras"))
    done = draw.choice(WRITES)
    return [cell for cell in cells(fault) if (cell.call == done if cell.done else cell.call != left_out)]


@dataclass
class FaultyServer(FaultServer):
    """A server with the fleet, of which one call meets a fault."""

    cell: Cell | None = None
    certificates: Mapping[str, Served] = field(default_factory=dict)
    struck: int = 0
    before: int = 0  # requests and connections until the fault began
    calls: Counter[str] = field(default_factory=Counter)
    begun: float = 0.0  # when the first connection came

    def __post_init__(self) -> None:
        super().__post_init__()
        self.store, self.page = fleet(), PAGE

    def opened(self, connection: socket.socket) -> int:
        self.begun = self.begun or time.monotonic()
        return super().opened(connection)

    def answer_to(self, asked: Asked) -> Answer:
        with self.lock:
            healthy = super().answer_to(asked)
            self.calls[call_of(asked)] += 1
            if self.cell is None or not self._strikes(asked, self.cell.fault):
                return healthy
            self.struck += 1
            if self.struck == 1:
                self.before = len(self.requests) + self.connections
                if self.cell.fault.turn:
                    self.cell.fault.turn(self)
                    self.hang_up()
        return done_and(self.cell.fault.answer) if self.cell.done else self.cell.fault.answer

    def _strikes(self, asked: Asked, fault: Fault) -> bool:
        assert self.cell
        if fault.turn:
            return not self.struck and concerns(asked, self.cell.call)
        return (fault.storm and self.struck > 0) or concerns(asked, self.cell.call)

    def vanish(self) -> None:
        """Nobody listens any more; who was about to be let in is not."""
        self.instead = greeting(b"")
        self._http.shutdown()
        self._http.server_close()

    def config(self, folder: Path) -> Path:
        if not self.proxy:
            return kubeconfig(folder, self)
        assert self.tls
        way = {"certificate-authority": str(self.tls.authority), "proxy-url": f"http://{self.address}"}
        return kubeconfig(folder, f"https://{PROXIED}:6443", None, **way)


def done_and(answer: Answer) -> Answer:
    def done(wire: Wire) -> None:
        wire.done()
        answer(wire)

    return done


# ------------------------------------------------------------------ a cell is run


@dataclass(frozen=True)
class Run:
    """What came of a cell. seconds: from the first connection to the end of the process."""

    cell: Cell
    ended: Ended
    server: FaultyServer
    before: Picture
    after: Picture
    seconds: float

    @property
    def in_a_list(self) -> bool:
        return self.cell.call in LISTS

    @property
    def ends_well(self) -> bool:
        """Whether the pass makes it good: also where a write is executed, and only its first response suffers."""
        return self.cell.fault.ends == "well" or (self.cell.done and self.cell.call != "apply")


def run(
    cell: Cell,
    command: Command,
    folder: Path,
    given: Mapping[str, Any],
    args: tuple[str, ...] = (),
    *,
    patience: float = 30,
) -> Run:
    """One pass by the command. given: what the server needs to know. patience: seconds until it has to have ended."""
    fault = cell.fault
    tls = given["certificates"]["here"] if fault.wire != "http" else None
    with FaultyServer(tls, proxy=fault.wire == "proxy", cell=cell, **given) as server:
        before = Picture.of(server.store)
        flags = args or (HURRIED if fault.ends == "late" else PATIENT)
        config = str(server.config(folder))
        ended = command.run("once", "--kubeconfig", config, "-o", "json", *FLAGS, *flags, patience=patience)
        seconds = time.monotonic() - server.begun
    return Run(cell, ended, server, before, Picture.of(server.store), seconds)
