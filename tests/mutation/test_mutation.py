"""The list of the mutants that may survive is true, docs/mutation.md holds it, and a new survivor is noticed."""

from __future__ import annotations

import ast
from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from tests.mutation import command
from tests.mutation.document import survivors, table
from tests.mutation.mutants import Findings, Mutant, listed, mutant_of
from tests.mutation.mutmut import ROOT, Mutmut, properties_as_methods

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KNOWN = listed()
DOCUMENT = ROOT / "docs" / "mutation.md"


# ------------------------------------------------------------------ the list


def test_every_survivor_has_a_reason() -> None:
    assert all(len(reason) > len("equivalent") for reason in KNOWN.values())


def lines_of(mutant: Mutant) -> list[str]:
    """The lines of the function that the mutant changes, without their indentation."""
    source = (ROOT / "takara_sync" / f"{mutant.module}.py").read_text()
    *_, name = mutant.function.split(".")
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    found = (ast.get_source_segment(source, one) or "" for one in functions if one.name == name)
    return [line.strip() for text in found for line in text.splitlines()]


@pytest.mark.parametrize("mutant", KNOWN, ids=lambda mutant: mutant.function)
def test_what_a_survivor_changes_is_still_there(mutant: Mutant) -> None:
    gone = [line.removeprefix("- ") for line in mutant.diff if line.startswith("- ")]
    assert gone
    assert set(gone) <= set(lines_of(mutant)), "the code has changed: try it again with python -m tests.mutation"


def test_the_document_holds_the_list() -> None:
    assert DOCUMENT.read_text().endswith(survivors(KNOWN))


# ------------------------------------------------------------------ a mutant


def test_a_mutant_is_known_by_its_function_and_its_lines() -> None:
    shown = (
        "# takara_sync.plan.x__apply__mutmut_12: survived\n--- takara_sync/plan.py\n+++ takara_sync/plan.py\n"
        "@@ -1,3 +1,3 @@\n def _apply(\n-        a = 1\n+        a = 2\n     return a\n"
    )
    assert mutant_of("takara_sync.plan.x__apply__mutmut_12", shown) == Mutant(
        "takara_sync.plan._apply", ("- a = 1", "+ a = 2")
    )
    assert mutant_of("takara_sync.plan.xǁPlanǁpending__mutmut_1", "").function == "takara_sync.plan.Plan.pending"


def test_properties_are_methods_to_mutmut() -> None:
    source = (
        "class A:\n    @property\n    def b(self):\n        return 1\n\n    @staticmethod\n    def c():\n        pass\n"
    )
    changed = properties_as_methods(source)
    assert "@property" not in changed
    made: dict[str, type] = {}
    exec(changed, made)  # noqa: S102 - the text above
    assert made["A"]().b == 1


# ------------------------------------------------------------------ the verdict

NEW = Mutant("takara_sync.plan.decide", ("- a", "+ b"))
OLD = Mutant("takara_sync.plan.decide", ("- c", "+ d"))
OLDER = Mutant("takara_sync.plan.decide", ("- e", "+ f"))


def name(number: int) -> str:
    return f"takara_sync.plan.x_decide__mutmut_{number}"


class FakeMutmut(Mutmut):
    """Knows 20 mutants, of which these survived."""

    def __init__(self, *survived: Mutant, status: str = "survived") -> None:
        self._survived = dict(enumerate(survived))
        self._status = status
        self.tried: list[tuple[str, ...]] = []

    def run(self, *names: str) -> None:
        self.tried.append(names)

    def statuses(self) -> dict[str, str]:
        return {name(n): self._status if n in self._survived else "killed" for n in range(20)}

    def mutant(self, name: str) -> Mutant:
        return self._survived[int(name.rpartition("_")[2])]


@pytest.fixture(autouse=True)
def _list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "listed", lambda: {OLD: "of no account", OLDER: "of no account"})


@pytest.fixture
def code(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The exit code of the command over a fake."""

    def run(mutmut: Mutmut, *arguments: str) -> int:
        monkeypatch.setattr(command, "workspace", lambda _: nullcontext(mutmut))
        return command.main(list(arguments))

    return run


def test_what_is_on_the_list_may_survive(code: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert code(FakeMutmut(OLD)) == 0
    told = capsys.readouterr().out
    assert "95.0 %" in told
    assert f"on the list, but did not survive:\n  {OLDER}" in told


@pytest.mark.parametrize("status", ["survived", "no tests", "suspicious", "not checked"])
@pytest.mark.parametrize("arguments", [[], ["--sample", "20"]], ids=["whole", "sample"])
def test_a_new_survivor_is_an_error_and_is_shown(
    code: Callable[..., int], capsys: pytest.CaptureFixture[str], status: str, arguments: list[str]
) -> None:
    assert code(FakeMutmut(NEW, status=status), *arguments) == 1
    assert f"is not on the list:\n  {NEW}" in capsys.readouterr().out


def test_too_many_survivors_are_an_error_though_each_is_on_the_list(code: Callable[..., int]) -> None:
    assert code(FakeMutmut(OLD, OLDER)) == 1
    assert code(FakeMutmut(OLD, OLDER), "--sample", "20") == 0, "a few say nothing about the score"


def test_a_mutant_that_never_ends_is_noticed(code: Callable[..., int]) -> None:
    assert code(FakeMutmut(NEW, OLD, OLDER, status="timeout")) == 0


def test_a_seed_draws_the_same_mutants_again(code: Callable[..., int]) -> None:
    tried = []
    for seed in ("7", "7", "8"):
        mutmut = FakeMutmut()
        code(mutmut, "--sample", "3", "--seed", seed)
        tried.append(mutmut.tried[-1])
    assert tried[0] == tried[1] != tried[2]
    assert len(tried[0]) == 3


def test_only_those_that_are_asked_for_count(code: Callable[..., int]) -> None:
    assert code(FakeMutmut(NEW), "--only", f"{name(1)}*") == 0
    assert code(FakeMutmut(NEW), "--only", name(0)) == 1


def test_the_document_is_that_of_a_whole_run(code: Callable[..., int], tmp_path: Path) -> None:
    written = tmp_path / "mutation.md"
    assert code(FakeMutmut(OLD), "--document", str(written)) == 0
    counted = table(Findings({"plan": Counter(killed=19, survived=1)}, (OLD,), {}))
    assert counted in written.read_text()
    with pytest.raises(SystemExit):
        code(FakeMutmut(), "--sample", "3", "--document", str(written))
