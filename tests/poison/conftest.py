"""A fleet that has converged, made once; and a quiet log, for what fails here fails on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poison.outputs import Recorder
from tests.poison.world import World, converged
from tests.wire.forked import hasty


@pytest.fixture(scope="session")
def base() -> World:
    """The fleet; tests work on twins of it."""
    return converged()


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path)


@pytest.fixture(autouse=True)
def _quick_and_quiet(silent: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - it is in force
    """No backoff. What a poison is called in a log is looked at where the log is set up as the command does it."""
    hasty(monkeypatch.setattr)
