"""The next version of takara-sync: its default manifest differs, and so its format does."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync import desired, record

FORMAT = record.FORMAT + 1
IMAGE = "busybox:2"


def container(*_: object) -> dict[str, Any]:
    """What it puts in the place of `desired.default_container`."""
    return {"name": "takara", "image": IMAGE, "command": ["sleep", "7200"]}


def become_newer(patch: pytest.MonkeyPatch) -> None:
    """This process is the next version until the patch is undone."""
    for module in ("record", "plan", "reconcile"):
        patch.setattr(f"takara_sync.{module}.FORMAT", FORMAT)
    patch.setattr(desired, "default_container", container)
