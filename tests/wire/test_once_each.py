"""Every write of a pass suffers once: still everything is converged in one pass, and the exit code is 0."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.wire.answers import status
from tests.wire.asked import WRITES, call_of
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
    from tests.wire.command import Ended

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
    """Gives the answer to each write when it is made for the first time."""

    answer: Answer = field(default=status(429))
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)

    def answer_to(self, asked: Asked) -> Answer:
        healthy = super().answer_to(asked)
        call = call_of(asked)
        with self.lock:
            self.seen[call, asked.path] += call in WRITES
            return self.answer if self.seen[call, asked.path] == 1 else healthy


def suffer(command: Command, folder: Path, name: str) -> Ended:
    """A pass in which each write gets this response once; it is sent at most twice for it, and twice for conflicts."""
    with OnceEach(answer=ONCE[name]) as server:
        before, config = Picture.of(server.store), str(server.config(folder))
        ended = command.run("once", "--kubeconfig", config, "-o", "json", *FLAGS, *PATIENT)
    after = Picture.of(server.store)
    assert ended.code == 0, ended.report
    assert untruths(ended, before, after, lost=name in LOST) == []
    assert all(after.right(each) and after.has_its_status(each) for each in RESULTS if each != "strange")
    writes = {key: times for key, times in server.seen.items() if key[0] in WRITES}
    assert {call for call, _ in writes} == set(WRITES)
    assert max(writes.values()) <= 4, writes
    assert {one["name"]: one["result"] for one in ended.report["takaras"]} == RESULTS
    return ended


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("name", ONCE)
def test_every_write_suffers_once(name: str, tmp_path: Path, count: Callable[[str, int], None]) -> None:
    suffer(Called(tmp_path), tmp_path, name)
    count("writes that suffered once, and were made good in the same pass", 7)


@pytest.mark.parametrize("name", ["409", "429", "done, and reset before the headers"])
def test_every_write_of_a_process_suffers_once(name: str, tmp_path: Path) -> None:
    """With the backoff of the command. A conflict is no warning; transient failures of one kind are one."""
    assert len(suffer(Command(tmp_path), tmp_path, name).warnings()) == (0 if name == "409" else 1)
