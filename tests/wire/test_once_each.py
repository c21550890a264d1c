"""Every request of a pass suffers once: still everything is converged in one pass, and the exit code is 0."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.wire.answers import status
from tests.wire.asked import CALLS, EVENT, WRITES, call_of
from tests.wire.broken import BROKEN
from tests.wire.cells import PATIENT, FaultyServer, done_and
from tests.wire.command import Called, Command
from tests.wire.fleet import FLAGS, RESULTS
from tests.wire.truth import Picture, untruths

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.wire.answers import Answer
    from tests.wire.asked import Asked

LOST = {f"done, and {name}": done_and(fault.answer) for name, fault in BROKEN.items() if fault.breaks}
ONCE: dict[str, Answer] = {
    "429": status(429, "TooManyRequests"),
    "409": status(409, "Conflict"),
    "500": status(500, "InternalError"),
    "500 without a reason": status(500, message="etcdserver: leader changed"),
    "503": status(503),
    **{name: fault.answer for name, fault in BROKEN.items() if fault.breaks and fault.ends != "late"},
    **{name: answer for name, answer in LOST.items() if BROKEN[name.removeprefix("done, and ")].ends != "late"},
}


@dataclass
class OnceEach(FaultyServer):
    """Gives the answer to each write and to each read when it is made for the first time.

    strikes: the calls that it is given to.
    """

    answer: Answer = field(default=status(429))
    strikes: tuple[str, ...] = CALLS
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)

    def answer_to(self, asked: Asked) -> Answer:
        healthy = super().answer_to(asked)
        call = call_of(asked)
        with self.lock:
            self.seen[call, asked.path] += 1
            return self.answer if call in self.strikes and self.seen[call, asked.path] == 1 else healthy


def suffer(command: Command, folder: Path, name: str) -> int:
    """How many requests suffered in a pass in which each gets this response once.

    No read meets a conflict. A write is sent at most twice for it, and twice for conflicts. Each read that is tried
    again is one warning, all writes together are one, and a conflict is none.
    """
    strikes = WRITES if name == "409" else CALLS
    with OnceEach(answer=ONCE[name], strikes=strikes) as server:
        before, config = Picture.of(server.store), str(server.config(folder))
        ended = command.run("once", "--kubeconfig", config, "-o", "json", *FLAGS, *PATIENT)
    after = Picture.of(server.store)
    assert ended.code == 0, ended.report
    assert untruths(ended, before, after, lost=name in LOST) == []
    assert all(after.right(each) and after.has_its_status(each) for each in RESULTS if each != "strange")
    assert {call for call, _ in server.seen} >= set(WRITES)
    assert all(times <= 4 for (call, _), times in server.seen.items() if call in WRITES), server.seen
    assert {one["name"]: one["result"] for one in ended.report["takaras"]} == RESULTS
    reads = sum(call not in (*WRITES, EVENT) for call, _ in server.seen)
    assert len(ended.warnings()) == (0 if name == "409" else reads + 1), ended.warnings()
    return sum(call in strikes for call, _ in server.seen)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("name", ONCE)
def test_every_request_suffers_once(name: str, tmp_path: Path, count: Callable[[str, int], None]) -> None:
    count("requests that suffered once, and were made good", suffer(Called(tmp_path), tmp_path, name))


def test_every_request_of_a_process_suffers_once(tmp_path: Path) -> None:
    """With the backoff of the command."""
    suffer(Command(tmp_path), tmp_path, "429")
