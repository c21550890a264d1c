"""The report on stdout: a table for people, one line of JSON for machines."""

from __future__ import annotations

import contextlib
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from takara_sync.cli.render import report_lines, show, unmatched
from takara_sync.cli.settings import Settings
from takara_sync.conditions import Reason
from takara_sync.diff import Change
from takara_sync.errors import Unreadable
from takara_sync.objects import Key
from takara_sync.report import Exit, Outcome, Report, Result

STARTED = datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=UTC)
SCALED = Change("spec.replicas", 7, 3, "kubectl")
OUTCOMES = (
    Outcome(Key("ns", "bad"), Result.FAILED, Reason.APPLY_REJECTED, "no\nway\x1b[31m"),
    Outcome(Key("ns", "fine"), Result.UNCHANGED, ready="Ready", size=1, ready_replicas=1),
    Outcome(Key("ns", "a-long-name"), Result.UPDATED, changes=(SCALED,), status_written=True, size=3),
)


REPORT = Report(OUTCOMES, STARTED, 1.23456)
FINE = Report((OUTCOMES[1],), STARTED, 0.04)


def text_of(report: Report, **options: Any) -> str:
    """What people see."""
    stdout: io.StringIO = options.pop("stdout", io.StringIO())
    with contextlib.redirect_stdout(stdout):
        show(report.document(), "text", report_lines(report, **options), report.error)
    return stdout.getvalue()


def test_text_shows_what_is_not_unchanged_in_whole_aligned_lines_and_wide_shows_all() -> None:
    expected = [
        "NAMESPACE   NAME          SIZE   READY   RESULT    DETAIL",
        "ns          a-long-name   3      0       updated   spec.replicas 7 -> 3 (set by kubectl)",
        "ns          bad                  0       failed    ApplyRejected: no way [31m",
        "3 Takaras: 1 updated, 1 unchanged, 1 failed (1.2 s)",
    ]
    assert text_of(REPORT).splitlines() == expected
    wide = text_of(REPORT, every=True).splitlines()
    assert len(wide) == len(expected) + 1
    assert wide[0].split() == ["NAMESPACE", "NAME", "SIZE", "READY", "RESULT", "STATUS", "WRITTEN", "DETAIL"]
    assert "ns          fine          1      1       unchanged   Ready    no" in wide
    changed = (
        "ns          a-long-name   3      0       updated              yes       spec.replicas 7 -> 3 (set by kubectl)"
    )
    assert changed in wide


def test_what_is_not_ready_and_what_failed_come_last_in_groups() -> None:
    waiting = Outcome(Key("a", "a"), Result.UNCHANGED, Reason.QUOTA_EXCEEDED, "none left", ready="Progressing", size=4)
    results = (Result.FAILED, Result.BLOCKED, Result.NOT_REACHED, Result.INVALID, Result.CONTESTED, Result.CREATED)
    outcomes = (waiting, *(Outcome(Key(name, name), result) for name, result in zip("bcdefg", results, strict=True)))
    lines = text_of(Report(outcomes, STARTED, 0)).splitlines()
    assert [line[0] for line in lines[1:-1]] == ["f", "g", "d", "a", "e", "c", "b"]
    assert lines[4].split() == ["a", "a", "4", "0", "unchanged", "QuotaExceeded:", "none", "left"]
    assert lines[-1].endswith("; 1 not Ready: a/a 0/4 exceeded quota (0.0 s)")


@pytest.mark.parametrize(
    ("report", "last"),
    [
        (FINE, "1 Takara: 1 unchanged (0.0 s)\n"),
        (Report((), STARTED, 0), "0 Takaras (0.0 s)\n"),
        (Report((), STARTED, 0, Unreadable("no\nlist", "Look.")), "0 Takaras (0.0 s)\nerror: no list. Look.\n"),
    ],
)
def test_nothing_to_tell_is_one_line_and_why_a_pass_stopped_the_last(report: Report, last: str) -> None:
    assert text_of(report) == last


def test_json_is_one_line_with_everything(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code in it is that of the process: what is tolerated, or pending in a dry run, changes it."""
    show(REPORT.document(Exit.BLOCKED), "json", report_lines(REPORT))
    text = capsys.readouterr().out
    assert (text.count("\n"), text[-1]) == (1, "\n")
    found = json.loads(text)
    assert [takara["name"] for takara in found["takaras"]] == ["bad", "fine", "a-long-name"]
    assert found["takaras"][2]["changes"][0] | {"old": 7, "new": 3} == found["takaras"][2]["changes"][0]
    assert (found["schema"], found["exit"], found["error"]) == ("takara-sync/report/v2", 6, None)
    assert (found["started"], found["seconds"]) == ("2026-01-02T03:04:05.678Z", 1.235)
    assert found["counts"] == {"updated": 1, "unchanged": 1, "failed": 1}


def test_brief_json_says_only_what_is_not_settled(capsys: pytest.CaptureFixture[str]) -> None:
    """500 idle Takaras are one short line; one that is not Ready is news."""
    idle = [Outcome(Key("ns", f"t{number}"), Result.UNCHANGED, ready="Ready") for number in range(500)]
    waiting = Outcome(Key("ns", "waiting"), Result.UNCHANGED, ready="Progressing")
    whole = Report((*idle, waiting, OUTCOMES[2]), STARTED, 1)
    show(whole.document(brief=True), "json-brief", ())
    text = capsys.readouterr().out
    found = json.loads(text)
    assert [takara["name"] for takara in found["takaras"]] == ["waiting", "a-long-name"]
    assert found["counts"] == {"updated": 1, "unchanged": 501}
    show(Report(tuple(idle), STARTED, 1).document(brief=True), "json-brief", ())
    assert len(capsys.readouterr().out) < 300


def test_a_list_of_names_stays_short() -> None:
    settings = Settings(namespace=tuple(f"ns{number:04}" for number in range(1000)))
    last = text_of(Report((), STARTED, 0), remarks=unmatched(settings, ())).splitlines()[-1]
    assert last.startswith("no Takaras in: ns0000, ns0001, ")
    assert last.endswith(", ns0019 and 980 more")
