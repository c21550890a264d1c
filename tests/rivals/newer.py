"""The next version of takara-sync: its default body differs, and so its format does. A program, and a stand-in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from takara_sync import desired

if TYPE_CHECKING:
    from typing import Any

    import pytest

FORMAT = desired.FORMAT + 1
IMAGE = "busybox:2"


def container() -> dict[str, Any]:
    """What it puts in the place of `desired.default_container`."""
    return {"name": "takara", "image": IMAGE, "command": ["sleep", "7200"]}


def become_newer(patch: pytest.MonkeyPatch) -> None:
    """This process is the next version until the patch is undone."""
    for module in ("desired", "plan", "act"):
        patch.setattr(f"takara_sync.{module}.FORMAT", FORMAT)
    patch.setattr(desired, "default_container", container)


def main() -> None:
    """The command of that version: ahead of the import of what takes the format from `desired`."""
    assert "takara_sync.plan" not in sys.modules
    desired.FORMAT = FORMAT
    desired.default_container = container
    from takara_sync.cli.main import main as command  # noqa: PLC0415

    command()


if __name__ == "__main__":
    main()
