"""The termination message: failures first, never more than the kubelet keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from takara_sync.cli import publish
from takara_sync.conditions import Reason
from takara_sync.errors import Unreadable
from takara_sync.objects import Key
from takara_sync.report import Outcome, Report, Result
from tests.cli.test_loop import STARTED


@pytest.fixture
def message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "termination-log"
    path.touch()
    monkeypatch.setattr(publish, "TERMINATION_LOG", path)
    return path


def test_a_failure_among_many_others_is_told_first(message: Path) -> None:
    fine = [Outcome(Key("ns", f"a{number:04}"), Result.BLOCKED, Reason.PAUSED, "m" * 50) for number in range(500)]
    bad = Outcome(Key("ns", "zz"), Result.FAILED, Reason.APPLY_REJECTED, "quota")
    publish.write_termination_message(Report((*fine, bad), STARTED, 0.1))

    lines = message.read_text().splitlines()
    assert lines[0].startswith("501 Takaras: ")
    assert lines[1] == "ns/zz failed: ApplyRejected: quota"
    assert len(message.read_bytes()) <= 4096


def test_the_last_pass_counts(message: Path) -> None:
    publish.write_termination_message(Report((), STARTED, 0.1, Unreadable("no server")))
    assert "no server" in message.read_text()
    publish.write_termination_message(Report((), STARTED, 0.1))
    assert message.read_text() == "0 Takaras (0.1 s)"


def test_outside_of_a_pod_there_is_no_such_file(message: Path) -> None:
    message.unlink()
    publish.write_termination_message(Report((), STARTED, 0.1))
    assert not message.exists()
