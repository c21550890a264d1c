"""The termination message: JSON on every way to end, failures first, never more than the kubelet keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from takara_sync.cli import command, loop, termination
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.render import NotWritten
from takara_sync.cli.settings import Settings
from takara_sync.conditions import Reason
from takara_sync.errors import Unreadable
from takara_sync.objects import Key
from takara_sync.pytest_plugin import TakaraCluster
from takara_sync.report import Outcome, Report, Result
from tests.cli.test_loop import STARTED, Beat, report
from tests.support.command import run
from tests.support.takaras import takara

TEXTS = ["x" * 9000, '"\\' * 900, "\x1b[31m\n" * 500, "\u00e9" * 2000, "\U0001f600" * 900, "\ud800" * 9]
BAD = Outcome(Key("ns", "zz"), Result.FAILED, Reason.APPLY_REJECTED, "quota")


def blocked(count: int, message: str) -> list[Outcome]:
    return [Outcome(Key("ns", f"a{number:04}"), Result.BLOCKED, Reason.PAUSED, message) for number in range(count)]


def message(code: int, done: Report | None = None, error: str = "") -> dict[str, Any]:
    text = termination.message(code, error, done)
    assert len(text.encode()) <= termination.BYTES_MAX
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def test_a_failure_among_many_others_is_first() -> None:
    said = message(1, Report((*blocked(500, "m" * 50), BAD), STARTED, 0.1))
    assert (said["exit"], said["name"], said["counts"]) == (1, "failed", {"blocked": 500, "failed": 1})
    assert said["failures"][0] == {
        "takara": "ns/zz",
        "result": "failed",
        "reason": "ApplyRejected",
        "message": "quota",
    }
    assert len(said["failures"]) + said["leftOut"] == 501


def test_takaras_that_are_not_ready_come_last() -> None:
    waiting = Outcome(Key("ns", "aa"), Result.UNCHANGED, Reason.PROGRESSING, "exceeded quota", ready="Progressing")
    fine = Outcome(Key("ns", "ab"), Result.UNCHANGED, ready="Ready")
    said = message(4, Report((waiting, fine, BAD), STARTED, 0.1))
    assert [each["takara"] for each in said["failures"]] == ["ns/zz", "ns/aa"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("count", [0, 1, 6, 7, 40, 3000])
def test_whatever_is_in_it_the_message_is_complete_json(text: str, count: int) -> None:
    """And there is room for at least one failure, however long the names are."""
    longest = Outcome(Key("n" * 63, "t" * 253), Result.FAILED, Reason.UNREAD, text)
    others = [*blocked(count, text), *(Outcome(Key("n", str(each)), each) for each in Result)]
    said = message(4, Report((longest, *others), STARTED, 0.1, Unreadable(text)), text)
    assert said["failures"][0]["takara"] == str(longest.key)
    assert said["error"].isprintable()


def test_what_just_fits_is_not_left_out() -> None:
    """Each message one character longer than the last: at some of them the last item fills the rest exactly."""
    sizes = set()
    for length in range(1, 200):
        done = Report(tuple(blocked(40, "x" * length)), STARTED, 0.1)
        sizes.add(len(termination.message(6, report=done)))
        assert len(message(6, done)["failures"]) + message(6, done).get("leftOut", 0) == 40
    assert termination.BYTES_MAX - max(sizes) < 20


def test_an_error_without_a_report() -> None:
    assert message(2, error="wrong") == {"exit": 2, "name": "usage", "error": "wrong", "counts": {}, "failures": []}


# ------------------------------------------------------------------ every way to end


def read(path: Path) -> tuple[int, str]:
    found = json.loads(path.read_text())
    return found["exit"], found["error"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """As in a pod: there, and perhaps longer than what is written."""
    path = tmp_path / "message"
    path.write_text("x" * 5000)
    return path


def test_a_wrong_option_in_any_source(path: Path, tmp_path: Path) -> None:
    flag = f"--termination-message-path={path}"
    config = tmp_path / "config.yaml"
    config.write_text("max-size: many")
    for arguments in (["--interval=x", flag], ["once", flag, f"--config={config}"], ["nonsense", flag]):
        path.write_text("")
        assert run(*arguments).code == 2
        assert read(path)[0] == 2
        assert read(path)[1]
    path.write_text("")
    assert run("once", "--max-size=x", env={"TAKARA_SYNC_TERMINATION_MESSAGE_PATH": str(path)}).code == 2
    assert "--max-size" in read(path)[1]


def test_no_credentials_and_no_server(path: Path, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(f"termination-message-path: {path}")
    options = (f"--config={tmp_path / 'config.yaml'}",)
    assert run("once", *options, f"--kubeconfig={tmp_path / 'none'}").code == 2
    assert "kubeconfig" in read(path)[1]


def test_a_pass(takara_cluster: TakaraCluster, path: Path) -> None:
    takara_cluster.create(takara("one", size=2000))
    options = (f"--kubeconfig={takara_cluster.kubeconfig}", f"--termination-message-path={path}")
    assert run("once", *options).code == 6
    said = json.loads(path.read_text())
    assert (said["exit"], said["name"], said["counts"]) == (6, "blocked", {"invalid": 1})
    assert said["failures"][0]["takara"] == "default/one"
    assert run("once", "--tolerate=invalid", *options).code == 0
    assert read(path) == (0, "")


def test_a_report_that_cannot_be_written(takara_cluster: TakaraCluster, path: Path) -> None:
    with mock.patch("takara_sync.cli.render.write", side_effect=NotWritten("full")):
        done = run("once", f"--kubeconfig={takara_cluster.kubeconfig}", f"--termination-message-path={path}")
    assert done.code == 1
    assert read(path)[0] == 1
    assert read(path)[1].startswith("full")


def test_a_bug(path: Path) -> None:
    with mock.patch.object(command, "resolve_name", side_effect=KeyError("x")):
        assert run("once", f"--termination-message-path={path}").code == 70
    code, error = read(path)
    assert code == 70
    assert "KeyError: 'x'" in error


@pytest.mark.parametrize("outcome", [report(Result.FAILED), report(error=Unreadable("no server"))])
def test_the_end_of_a_loop_between_two_passes_is_a_success(path: Path, outcome: Report) -> None:
    """Until then it is the code of the last pass, for a process that is killed."""
    seen = []

    class Seen(Beat):
        def wait(self, seconds: float) -> None:
            seen.append(read(path))
            super().wait(seconds)

    beat = Seen(1, 1, outcome=outcome)
    settings = Settings(output="json", termination_message_path=str(path))
    assert loop.Runner(settings, beat, Heartbeat(None), beat.one_pass, lambda: beat.now).loop(10) == 0
    assert [code for code, _ in seen] == [outcome.exit] * 2
    assert read(path)[0] == 0


def test_outside_of_a_pod_there_is_no_such_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "termination-log"
    monkeypatch.setattr(termination, "DEFAULT", there)
    termination.write(None, "x")
    assert not there.exists()
    there.write_text("longer")
    termination.write(None, "x")
    assert there.read_text() == "x"


def test_a_path_that_cannot_be_written_is_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    termination.write(str(tmp_path), "x")
    (line,) = caplog.records
    assert (line.levelname, str(tmp_path) in line.getMessage()) == ("WARNING", True)
