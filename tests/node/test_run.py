"""How `python -m tests.node` ends when there is no node; these tests need none."""

from __future__ import annotations

import pytest

from tests.node import machine, run
from tests.node.machine import CannotRunError, PreparationError


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (CannotRunError("it takes root"), run.SKIPPED, "SKIPPED: the tests on a real node; this machine cannot run"),
        (PreparationError("no network"), run.FAILED, "FAILED: no network"),
        (TimeoutError("not within 20 s"), run.FAILED, "FAILED: not within 20 s"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_why_there_is_no_node_is_told_and_in_the_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, code: int, words: str
) -> None:
    def stop() -> None:
        raise error

    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr(machine, "install_packages", stop)
    assert run.main([]) == code
    assert words in capsys.readouterr().err
    assert code == run.FAILED or code not in {int(each) for each in pytest.ExitCode}
