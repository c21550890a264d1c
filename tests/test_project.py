"""The promises that the files of the project make to each other."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from takara_sync.account import STATUS_OVERWRITTEN, UNREAD
from takara_sync.cli.settings import Settings
from takara_sync.errors import ObjectError, PassStopped
from takara_sync.reasons import Reason
from takara_sync.report import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
CORE = ("changes", "claims", "contest", "desired", "errors", "fields", "objects", "plan", "reasons", "report", "status")


def test_ci_runs_the_readmes_test_command() -> None:
    (command,) = (line for line in README.splitlines() if line.endswith("pytest"))
    steps = command.split("pip install", 1)[1]
    assert f"pip install{steps}" in (ROOT / ".ci" / "run").read_text().splitlines()


def test_every_exit_code_is_in_the_readme() -> None:
    for code in Exit:
        assert f"| {int(code)} |" in README


def test_every_reason_is_documented_and_no_other() -> None:
    conditions, _, report = (ROOT / "docs" / "conditions.md").read_text().partition("\n## ")
    assert _first_column(conditions) == {str(reason) for reason in Reason}
    errors = {kind.__name__ for kind in (*_kinds_of(ObjectError), *_kinds_of(PassStopped))}
    told_otherwise = {"Refused", "Rejected", "Expired", "ObjectError", "PassStopped", "NotWritten", "TooManyChanges"}
    ours = {UNREAD, STATUS_OVERWRITTEN, "StatusRefused", "NotReached", "Deleting"}
    assert _first_column(report) == (errors - told_otherwise) | ours


def _first_column(text: str) -> set[str]:
    cells = (line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def _kinds_of(error: type[Exception]) -> Iterator[type[Exception]]:
    yield error
    for kind in error.__subclasses__():
        yield from _kinds_of(kind)


def test_every_option_has_a_group_and_a_help_text() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert isinstance(field.json_schema_extra, dict)
        assert field.json_schema_extra["group"], name


def test_the_made_documents_are_what_the_code_says() -> None:
    check = [sys.executable, str(ROOT / "docs" / "make.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_core_reads_no_clock() -> None:
    """`now` is an argument. import-linter sees modules, not that datetime also has a clock."""
    for module in CORE:
        tree = ast.parse((ROOT / "takara_sync" / f"{module}.py").read_text())
        calls = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        assert not {"now", "utcnow", "today"} & set(calls), module


def test_no_file_names_a_machine() -> None:
    """No path of a machine in what is shipped; the folders are those of this very checkout."""
    for path in (ROOT / "takara_sync").rglob("*.py"):
        assert str(ROOT) not in path.read_text()
        assert "/root/" not in path.read_text()
