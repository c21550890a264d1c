"""Tests of the tests: a bug of each kind is seeded into the command, and the cell that is meant for it sees it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.wire import bugs
from tests.wire.forked import Forked, hasty
from tests.wire.holds import problems
from tests.wire.sick import HURRIED, Cell, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SEEN: list[tuple[Callable[[], None], Cell, str]] = [
    (bugs.retries_for_ever, Cell("503", "create"), "instead of 4"),
    (bugs.retries_for_ever, Cell("a storm of 5xx", "takaras"), "after the fault began"),
    (bugs.takes_a_failed_list_for_an_empty_one, Cell("403", "takaras"), "ended with 0"),
    (bugs.takes_a_failed_list_for_an_empty_one, Cell("503", "deployments"), "wrote"),
    (bugs.takes_a_failed_list_for_an_empty_one, Cell("HTML with 200", "more pods"), "wrote"),
    (bugs.takes_the_first_page_for_all, Cell("503", "look-up"), "whom it names"),
    (bugs.reports_success_for_a_lost_answer, Cell("cut inside the body", "create"), "fresh: created"),
    (bugs.reports_success_for_a_lost_answer, Cell("reset behind the headers", "apply"), "drifted: updated"),
    (bugs.takes_any_answer_to_a_status_for_a_success, Cell("HTML with 200", "status"), "its status was not written"),
    (bugs.believes_a_404_of_a_proxy, Cell("a proxy's 404", "takara again"), "old: skipped"),
    (bugs.believes_a_404_of_a_proxy, Cell("a proxy's 404", "apply"), "drifted: skipped"),
    (bugs.tells_nobody_of_a_failure, Cell("403", "apply"), "drifted: skipped"),
]
BROKEN_OUTPUT: list[tuple[Callable[[], None], Cell]] = [
    (bugs.prints_the_headers, Cell("503", "takaras")),
    (bugs.prints_to_the_log_as_it_likes, Cell("503", "takaras")),
    (bugs.ends_in_a_traceback, Cell("503", "pods")),
]


def name_of(case: object) -> str:
    return getattr(case, "__name__", str(case)).replace("_", " ")


@pytest.mark.parametrize(("bug", "cell", "words"), SEEN, ids=name_of)
def test_a_bug_is_seen(tmp_path: Path, bug: Callable[[], None], cell: Cell, words: str) -> None:
    (tmp_path / "well").mkdir()
    assert problems(run(cell, Forked(tmp_path / "well", hasty), tmp_path, {}), exact=True) == []
    found = problems(run(cell, Forked(tmp_path, bug), tmp_path, {}, HURRIED), exact=True)
    assert any(words in each for each in found), found


@pytest.mark.parametrize(("bug", "cell"), BROKEN_OUTPUT, ids=name_of)
def test_an_output_that_must_not_be_is_seen(tmp_path: Path, bug: Callable[[], None], cell: Cell) -> None:
    with pytest.raises((AssertionError, ValueError)):
        run(cell, Forked(tmp_path, bug), tmp_path, {})


def test_a_process_that_does_not_end_by_itself_is_seen(tmp_path: Path) -> None:
    """A watchdog that does not bite; a byte now and then is never too slow for a socket's own timeout."""
    cell = Cell("a byte now and then of a header", "create")
    with pytest.raises(subprocess.TimeoutExpired):
        run(cell, Forked(tmp_path, bugs.waits_for_ever), tmp_path, {}, patience=4)
