"""The promises that the files of the project make to each other."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from takara_sync.cli.settings import Settings
from takara_sync.conditions import REPORT_ONLY, Reason
from takara_sync.report import Exit

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
CORE = next(contract["source_modules"] for contract in CONTRACTS if contract["name"].startswith("The core knows"))


def test_ci_runs_the_readmes_test_command() -> None:
    (command,) = (line for line in README.splitlines() if line.endswith("pytest"))
    steps = command.split("pip install", 1)[1]
    assert f"pip install{steps}" in (ROOT / ".ci" / "run").read_text().splitlines()


def test_every_exit_code_is_in_the_readme() -> None:
    for code in Exit:
        assert f"| {int(code)} |" in README


def test_every_reason_is_documented_in_its_table() -> None:
    conditions, _, report = (ROOT / "docs" / "conditions.md").read_text().partition("\n## ")
    assert _first_column(conditions) == [str(reason) for reason in Reason if reason not in REPORT_ONLY]
    assert _first_column(report) == [str(reason) for reason in Reason if reason in REPORT_ONLY]


def _first_column(text: str) -> list[str]:
    return re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)


def test_every_package_that_is_imported_is_declared() -> None:
    """Another package's dependency may go with its next version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    product, extras = project["dependencies"], project["optional-dependencies"]
    assert _undeclared("takara_sync", product) == {"pytest"}  # which loads our plugin itself
    for folder in ("tests", "examples", "docs"):
        assert _undeclared(folder, [*product, *extras["test"]]) == set()
    assert _undeclared("benchmarks", [*product, *extras["test"], *extras["bench"]]) == set()


def _undeclared(folder: str, requirements: list[str]) -> set[str]:
    declared = {canonicalize_name(Requirement(each).name) for each in requirements}
    nodes = [node for path in (ROOT / folder).rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))]
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    ours = {
        "takara_sync",
        *(path.name for path in ROOT.iterdir()),
        *(path.stem for path in (ROOT / folder).glob("*.py")),
    }
    names = {module.partition(".")[0] for module in modules} - sys.stdlib_module_names - ours
    known = packages_distributions()  # of what is installed, which the extra bench may not be
    return {name for name in names if not declared & {canonicalize_name(each) for each in known.get(name, [name])}}


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
        tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
        calls = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        assert not {"now", "utcnow", "today"} & set(calls), module


def test_no_file_names_a_machine() -> None:
    """No path of a machine in what is shipped; the folders are those of this very checkout."""
    for path in (ROOT / "takara_sync").rglob("*.py"):
        assert str(ROOT) not in path.read_text()
        assert "/root/" not in path.read_text()
