"""docs/monitoring.md says what there is, and its commands work."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from takara_sync.cli.metrics import METRICS, at_start
from tests.monitoring.conftest import Tools
from tests.monitoring.test_prometheus import alerts

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "monitoring.md").read_text()

ELSEWHERE = {
    "kube-state-metrics": "test_kube_state_metrics.py runs it, with more options",
    "kubectl": "it takes Argo CD, or a pod that ended; test_argocd.py runs the check, tests/node reads the message",
}
"""Why a command of the page is not run here, by its first word."""


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its head."""
    table = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [
        [cell.strip(" `") for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| `")
    ]


def test_the_table_of_metrics_is_that_of_the_code() -> None:
    said = {name: (kind, tuple(re.findall(r"\w+", labels))) for name, kind, labels, _ in rows("The metrics")}
    assert said == {name: (metric.kind, metric.labels) for name, metric in METRICS.items()}
    values = {
        series.labels[0]
        for series in at_start()
        if series.name in ("takara_sync_passes_total", "takara_sync_changes_total")
    }
    assert {value for value in values if f"`{value}`" not in PAGE} == set()


def test_the_table_of_alerts_is_that_of_the_rules() -> None:
    assert {row[0] for row in rows("Alerts")} == alerts()


@pytest.mark.parametrize("command", re.findall(r"```sh\n(.*?)\n```", PAGE, re.DOTALL))
def test_each_command_is_run(command: str, tools: Tools) -> None:
    program, *arguments = shlex.split(command)
    if program not in ELSEWHERE:
        subprocess.run([tools[program], *arguments], cwd=ROOT, check=True, capture_output=True)
    assert all((ROOT / each).exists() for each in re.findall(r"k8s/\S+", command))
