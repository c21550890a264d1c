"""The real node as one test of the whole run: it mostly waits, so it runs beside the others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.node.run import SKIPPED

ROOT = Path(__file__).parents[1]


@pytest.mark.first
@pytest.mark.timeout(1800)
def test_on_a_real_node(request: pytest.FixtureRequest, count: Callable[[str, int], None]) -> None:
    """Before the others as far as the CPU goes: its pods have to be in time."""
    if not request.config.getoption("--node"):
        pytest.skip("takes --node, or python -m tests.node")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = ["nice", "-n", "-10", sys.executable, "-m", "tests.node"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode == SKIPPED:
        pytest.skip(said.strip().splitlines()[-2])
    assert done.returncode == 0, said
    passed = re.search(r"(\d+) passed", said)
    assert passed, said
    count("tests passed on a real node", int(passed[1]))
