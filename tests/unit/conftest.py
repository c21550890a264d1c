"""No test of this folder waits."""

from __future__ import annotations

import pytest
import tenacity

from takara_sync import work_queue
from takara_sync.kube import api


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_queue, "BACKOFF_SECONDS", 0.0)
    monkeypatch.setattr(api, "BACKOFF", tenacity.wait_none())
