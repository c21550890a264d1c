"""No waiting between tries, and nothing written to the log that nobody reads."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import pytest

from tests.crash.survival import Tell
from tests.support.backoff import no_backoff

__all__ = ["no_backoff"]


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Thousands of passes with warnings about lost responses."""
    caplog.set_level(logging.CRITICAL, "takara_sync")


@pytest.fixture
def draw(seed: int, request: pytest.FixtureRequest) -> random.Random:
    """What the points of this test are drawn from."""
    return random.Random(f"{seed} {request.node.name}")  # noqa: S311 - no secret


@pytest.fixture
def tell(tmp_path: Path) -> Tell:
    """Prepares a situation, and tells its story without a stop."""
    return Tell(tmp_path)
