"""stderr: one line of progress, which nothing tears, and retries of one kind as one line."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from takara_sync.cli import screen as module
from takara_sync.cli.logs import set_up
from takara_sync.cli.screen import Screen, screen
from tests.support.command import Terminal, own_log

log = logging.getLogger("takara_sync")
REFUSED = {"retry": "connection refused"}
_ERASED = re.compile(r"[^\r\n]*\r\x1b\[K")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the screen, which stands still unless a test moves it."""
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


@contextlib.contextmanager
def writing(stderr: io.StringIO, log_format: str = "text", level: str = "warning") -> Iterator[Screen]:
    with contextlib.redirect_stderr(stderr), own_log():
        set_up(log_format, level)
        yield screen()


def left(stderr: io.StringIO) -> list[str]:
    """What stays on the terminal: without the lines that were erased, and without times."""
    return [re.sub(r"^\d\d:\d\d:\d\d ", "", line) for line in _ERASED.sub("", stderr.getvalue()).splitlines()]


def test_the_line_has_a_total_where_it_is_known(clock: list[float]) -> None:
    stderr = Terminal()
    with writing(stderr) as one:
        clock[0] += 1
        one.progress("listing pods", 500, None)
        clock[0] += 1
        one.progress("writing statuses", 3, 7)
        one.finish()
    drawn = [part for part in stderr.getvalue().split("\r\x1b[K") if part]
    assert drawn == ["listing pods: 500", "writing statuses: 3 of 7"]
    assert left(stderr) == []


def test_a_short_pass_draws_nothing_and_a_long_one_at_most_ten_times_a_second(clock: list[float]) -> None:
    stderr = Terminal()
    with writing(stderr) as one:
        for number in range(400):
            one.progress("listing pods", number, 400)
        assert stderr.getvalue() == ""
        for number in range(1000):
            clock[0] += 0.001
            one.progress("listing pods", number, 1000)
        assert 2 <= stderr.getvalue().count("\x1b[K") <= 7


def test_a_line_of_the_log_does_not_tear_it() -> None:
    stderr = Terminal()
    with writing(stderr) as one:
        one.show("9 of 12 Takaras are Ready")
        log.warning("hm")
        assert stderr.getvalue().endswith("\r\x1b[K9 of 12 Takaras are Ready")
        one.finish()
    assert left(stderr) == ["WARNING hm"]


def test_retries_of_one_kind_are_one_line_on_a_terminal() -> None:
    stderr = Terminal()
    with writing(stderr) as one:
        for number in range(21):
            log.warning("GET /%d failed: connection refused", number, extra=REFUSED)
        log.warning("GET /x was answered 503", extra={"retry": "was answered 503"})
        one.finish()
        one.finish()
    assert left(stderr) == ["WARNING 21 x connection refused, trying again", "WARNING GET /x was answered 503"]
    assert "\r\x1b[K7 x connection refused, trying again" in stderr.getvalue()


def test_off_a_terminal_the_first_one_is_said_at_once_and_the_number_later() -> None:
    stderr = io.StringIO()
    with writing(stderr, "json") as one:
        for _ in range(21):
            log.warning("GET / failed: connection refused", extra=REFUSED)
        assert stderr.getvalue().count("\n") == 1
        log.warning("something else")
        one.progress("listing pods", 1, 2)
        one.show("waiting")
    said = [json.loads(line)["message"] for line in stderr.getvalue().splitlines()]
    assert said == ["GET / failed: connection refused", "21 x connection refused, trying again", "something else"]


@pytest.mark.parametrize(("log_format", "terminal"), [("json", "xterm"), ("text", "dumb")])
def test_where_a_line_cannot_be_erased_there_is_none(
    monkeypatch: pytest.MonkeyPatch, log_format: str, terminal: str
) -> None:
    monkeypatch.setenv("TERM", terminal)
    stderr = Terminal()
    with writing(stderr, log_format) as one:
        one.show("waiting")
        one.progress("listing pods", 1, 2)
        one.finish()
    assert stderr.getvalue() == ""


def test_the_line_is_never_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal erases only the row of the cursor."""
    monkeypatch.setenv("COLUMNS", "30")
    stderr = Terminal()
    with writing(stderr) as one:
        one.show("one word after another and then some more")
        assert stderr.getvalue() == "\r\x1b[Kone word after another and..."


@pytest.mark.parametrize(("level", "lines"), [("info", 1), ("warning", 1), ("error", 0)])
def test_warnings_obey_the_level(level: str, lines: int) -> None:
    stderr = io.StringIO()
    with writing(stderr, "text", level):
        logging.getLogger("py.warnings").warning("InsecureSomething")
    assert stderr.getvalue().count("\n") == lines
