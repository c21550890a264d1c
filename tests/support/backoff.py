"""Tries without waiting between them, in each folder whose conftest imports the fixture."""

from __future__ import annotations

import pytest
import tenacity

from takara_sync import work_queue
from takara_sync.kube import api


@pytest.fixture(autouse=True)
def no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time between two tries of a request; a Retry-After is waited for all the same."""
    monkeypatch.setattr(work_queue, "BACKOFF_SECONDS", 0.0)
    monkeypatch.setattr(api, "BACKOFF", tenacity.wait_none())
