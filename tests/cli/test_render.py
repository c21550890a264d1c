"""The report on stdout: a table for people, one line of JSON for machines."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime

import pytest

from takara_sync.changes import Change
from takara_sync.cli.render import print_report
from takara_sync.errors import Unreadable
from takara_sync.objects import Key
from takara_sync.report import Exit, Outcome, Report, Result

STARTED = datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=UTC)
SCALED = Change("spec.replicas", 7, 3, "kubectl")
OUTCOMES = (
    Outcome(Key("ns", "bad"), Result.FAILED, "Refused", "no\nway\x1b[31m"),
    Outcome(Key("ns", "fine"), Result.UNCHANGED),
    Outcome(Key("ns", "a-long-name"), Result.UPDATED, changes=(SCALED,), told=True),
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(report: Report, output: str, stream: io.StringIO | None = None) -> str:
    stream = stream or io.StringIO()
    print_report(report, report.exit, output, stream)
    return stream.getvalue()


@pytest.fixture
def report() -> Report:
    return Report(OUTCOMES, STARTED, 1.23456)


def test_text_shows_what_is_not_unchanged_in_whole_aligned_lines(report: Report) -> None:
    assert shown(report, "text").splitlines() == [
        "NAMESPACE   NAME          RESULT    DETAIL",
        "ns          bad           failed    Refused: no way [31m",
        "ns          a-long-name   updated   spec.replicas 7 -> 3 (set by kubectl)",
        "3 Takaras: 1 updated, 1 unchanged, 1 failed (1.2 s)",
    ]


def test_wide_shows_all(report: Report) -> None:
    assert "ns          fine          unchanged" in shown(report, "wide").splitlines()


def test_nothing_to_tell_is_one_line() -> None:
    fine = Report((OUTCOMES[1],), STARTED, 0.04)
    assert shown(fine, "text") == "1 Takara: 1 unchanged (0.0 s)\n"
    assert shown(Report((), STARTED, 0), "text") == "0 Takaras (0.0 s)\n"


def test_why_a_pass_stopped_is_the_last_line() -> None:
    stopped = Report((), STARTED, 0, Unreadable("no\nlist", "Look."))
    assert shown(stopped, "text").splitlines()[-1] == "error: no list. Look."


def test_json_is_one_line_with_everything(report: Report) -> None:
    text = shown(report, "json")
    assert text.count("\n") == 1
    assert text.endswith("\n")
    found = json.loads(text)
    assert [takara["name"] for takara in found["takaras"]] == ["bad", "fine", "a-long-name"]
    assert found["takaras"][2]["changes"][0] | {"old": 7, "new": 3} == found["takaras"][2]["changes"][0]
    assert (found["schema"], found["exit"], found["error"]) == ("takara-sync/report/v1", 1, None)
    assert (found["started"], found["seconds"]) == ("2026-01-02T03:04:05.678Z", 1.235)
    assert found["counts"] == {"updated": 1, "unchanged": 1, "failed": 1}


def test_the_exit_code_in_json_is_that_of_the_process(report: Report) -> None:
    """Not that of the report alone: what is tolerated, or pending in a dry run, changes it."""
    stream = io.StringIO()
    print_report(report, Exit.BLOCKED, "json", stream)
    assert json.loads(stream.getvalue())["exit"] == 6


def test_a_terminal_gets_a_table_that_fits_and_colours(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[31mfailed" in shown(report, "text", Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    plain = shown(report, "text", Terminal())
    assert "\x1b[31m" not in plain
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in plain.splitlines()) <= 60
    assert "fine" not in plain


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_brackets_are_no_markup(stream: type[io.StringIO]) -> None:
    odd = Outcome(Key("ns", "x"), Result.FAILED, "Refused", "[bold]no[/bold] [link=http://x]y[/link]")
    assert "[bold]no[/bold] [link=http://x]y[/link]" in shown(Report((odd,), STARTED, 0), "text", stream())
