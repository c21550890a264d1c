"""How `python -m tests.node` ends when there is no node; these tests need none."""

from __future__ import annotations

import pytest

from tests.node import machine, run
from tests.node.machine import CannotRunError, PreparationError


@pytest.fixture(autouse=True)
def signals_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)


def stopped_by(error: Exception, monkeypatch: pytest.MonkeyPatch) -> int:
    def stop() -> None:
        raise error

    monkeypatch.setattr(machine, "install_packages", stop)
    return run.main([])


def test_a_machine_that_cannot_run_containers_is_told_loudly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stopped_by(CannotRunError("a node takes root"), monkeypatch) == run.SKIPPED
    assert (
        "SKIPPED: the tests on a real node; this machine cannot run one: a node takes root" in capsys.readouterr().err
    )


@pytest.mark.parametrize("error", [PreparationError("no network"), TimeoutError("not within 20 s")])
def test_what_should_have_worked_is_a_failure(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stopped_by(error, monkeypatch) == run.FAILED
    assert str(error) in capsys.readouterr().err


def test_no_code_of_pytest_means_skipped() -> None:
    assert run.SKIPPED not in {int(code) for code in pytest.ExitCode}
