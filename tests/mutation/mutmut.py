"""mutmut's own command, in a copy of the tree: it writes beside what it mutates."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.mutation.mutants import Mutant, mutant_of

ROOT = Path(__file__).parents[2]
# Without mutmut's own timer: it signals the process id of a mutant when its time is over, long after that mutant has
# ended, and by then the id may be another program's. The limit of CPU time that each mutant sets for itself ends an
# endless loop as well.
_PROGRAM = """
from mutmut.__main__ import cli
from mutmut.workers import isolation
isolation.register_timeout = lambda *_, **__: None
cli()
"""
_COPIED = ("takara_sync", "tests")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*")


class MutmutFailed(Exception):
    """mutmut ended otherwise than by trying mutants."""


class Mutmut:
    """One workspace: what was tried in it stays known."""

    def __init__(self, folder: Path, children: int) -> None:
        self._folder = folder
        self._children = children
        # Options of pytest that somebody set for a run of all tests are not meant for these.
        self._env = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"} | {
            "PYTHONUTF8": "1"
        }

    def run(self, *names: str) -> None:
        """Try these mutants, a pattern each; all that were not tried yet where none is given."""
        self._ask("run", "--max-children", str(self._children), *names)

    def statuses(self) -> dict[str, str]:
        """Every mutant by mutmut's name, with what became of it."""
        lines = (line.strip().partition(": ") for line in self._ask("results", "--all", "true").splitlines())
        return {name: status for name, colon, status in sorted(lines) if colon}

    def mutant(self, name: str) -> Mutant:
        return mutant_of(name, self._ask("show", name))

    def _ask(self, *arguments: str) -> str:
        command = [sys.executable, "-c", _PROGRAM, *arguments]
        done = subprocess.run(
            command, cwd=self._folder, env=self._env, capture_output=True, encoding="utf-8", check=False
        )
        if done.returncode != 0:
            raise MutmutFailed(
                f"mutmut {arguments[0]} ended with {done.returncode}: {(done.stdout + done.stderr)[-4000:]}"
            )
        return done.stdout


@contextmanager
def workspace(children: int) -> Iterator[Mutmut]:
    """A copy of what is needed, away from the tree; links become files, for mutmut follows none."""
    with tempfile.TemporaryDirectory(prefix="takara-sync-mutants-") as name:
        folder = Path(name)
        shutil.copy(ROOT / "pyproject.toml", folder)
        for part in _COPIED:
            shutil.copytree(ROOT / part, folder / part, ignore=_LEFT_OUT)
        for module in (folder / "takara_sync").glob("*.py"):
            module.write_text(properties_as_methods(module.read_text()))
        yield Mutmut(folder, children)


def properties_as_methods(source: str) -> str:
    """The same module with `name = property(name)` behind a property instead of a decorator before it.

    mutmut leaves alone what is decorated.
    """
    lines = source.splitlines(keepends=True)
    for name, decorator, end in reversed(list(_properties(ast.parse(source)))):
        indent = lines[decorator].partition("@")[0]
        lines[end:end] = [f"{indent}{name} = property({name})\n"]
        del lines[decorator]
    return "".join(lines)


def _properties(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """The name of each property, the index of the decorator's line and that of the line behind the body."""
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    for function in (node for one in classes for node in one.body if isinstance(node, ast.FunctionDef)):
        if [ast.unparse(decorator) for decorator in function.decorator_list] == ["property"]:
            yield function.name, function.decorator_list[0].lineno - 1, function.end_lineno or function.lineno
