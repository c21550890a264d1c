"""takara-sync 0.1.0 as it was, as a process; the record of its applies had another form.

The archive holds the modules of the commit that CHANGELOG names 0.1.0, without simulator and demo:
`git archive 3690275^ takara_sync`. Its manifests are tests/manifests/older.yaml.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.tool import Tool

ARCHIVE = Path(__file__).with_name("takara_sync-0.1.0.zip")
MANIFESTS = Path(__file__).parents[1] / "manifests" / "older.yaml"


class Frozen(Tool):
    """The old command, with a user of its own."""

    def environment(self) -> dict[str, str]:
        return super().environment() | {"PYTHONPATH": str(ARCHIVE)}

    def started(self, *args: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "takara_sync", *self.args(*args)[1:]]
        folder = self.server.folder  # not the checkout: its modules would come first
        return subprocess.Popen(command, env=self.environment(), cwd=folder, stdout=pipe, stderr=pipe, text=True)
