"""Every class of fault strikes every call of a pass, and the command lives through each of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.wire.cells import FAULTS, PATIENT, UNHURRIED, FaultyServer, cells, chosen, run
from tests.wire.command import QUICK, TOKEN, Called, Command
from tests.wire.forked import Forked
from tests.wire.holds import USUAL, problems
from tests.wire.server import FaultServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.certificates import Certificates

AT_ONCE = 14  # processes side by side that wait: all of a fault


@pytest.fixture(scope="session")
def certificates_shown(certificates: Certificates) -> dict[str, Any]:
    shown = {"here": certificates.served(), "elsewhere": certificates.served("elsewhere")}
    return shown | {"expired": certificates.served(expired=True)}


@pytest.fixture
def given(certificates_shown: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the servers need to know; the one that a redirect leads to is never asked anything."""
    with FaultServer() as elsewhere:
        yield {"certificates": certificates_shown, "elsewhere": elsewhere.url}
        assert elsewhere.connections == 0


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_every_call(
    fault: str,
    tmp_path: Path,
    given: dict[str, Any],
    long: bool,
    seed: int,
    count: Callable[[str, int], None],
    request: pytest.FixtureRequest,
) -> None:
    """In the long form as a process. In the short form there is no backoff, and only what waits has a process."""
    every = cells(fault) if long else chosen(fault, seed)
    waits = FAULTS[fault].ends == "late" or long
    kind: type[Command] = Command if long else Forked if waits else Called
    if not waits:
        request.getfixturevalue("hasty")

    def survived(number: int, args: tuple[str, ...] = QUICK if long else ()) -> list[str]:
        folder = tmp_path / f"{number}{args}"
        folder.mkdir()
        return problems(run(every[number], kind(folder), folder, given, args), exact=not long)

    with ThreadPoolExecutor(AT_ONCE if waits else 1) as side_by_side:
        found = list(side_by_side.map(survived, range(len(every))))
    if waits:  # a busy machine may have been what was late
        found = [survived(number, UNHURRIED) if problem else [] for number, problem in enumerate(found)]
    if any(found):
        pytest.fail("\n".join(problem for each in found for problem in each), pytrace=False)
    count("wire faults survived (class x call)", len(every))


def test_a_pass_that_nothing_happens_to(tmp_path: Path) -> None:
    with FaultyServer() as server:
        ended = Forked(tmp_path).run("once", "--kubeconfig", str(server.config(tmp_path)), "-o", "json", *PATIENT)
    assert (ended.code, server.calls) == (6, USUAL)
    headers = [one.headers for one in server.requests]
    assert {each["authorization"] for each in headers} == {f"Bearer {TOKEN}"}
    assert {each["accept-encoding"] for each in headers} == {"identity"}
    assert all(each["user-agent"].startswith("takara-sync") for each in headers)
