"""The static checks, run beside the other tests: so one command checks everything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent

CHECKS = {
    "lint": ("ruff", "check", "."),
    "format": ("ruff", "format", "--check", "."),
    "imports": ("lint-imports", "--no-logo"),
    "types": ("mypy",),
}


@pytest.mark.first
@pytest.mark.parametrize("command", CHECKS.values(), ids=CHECKS)
def test_static_check(command: tuple[str, ...]) -> None:
    done = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
