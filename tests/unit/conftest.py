"""No test of this folder waits."""

from __future__ import annotations

from tests.support.backoff import no_backoff

__all__ = ["no_backoff"]
