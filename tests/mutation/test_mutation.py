"""The list of the mutants that may survive is true, docs/mutation.md holds it, and a new survivor is noticed."""

from __future__ import annotations

import ast
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.mutation import command
from tests.mutation.document import survivors, table
from tests.mutation.mutants import Findings, Mutant, listed, mutant_of
from tests.mutation.mutmut import ROOT, Mutmut, properties_as_methods

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


def code(monkeypatch: pytest.MonkeyPatch, mutmut: Mutmut, *arguments: str) -> int:
    """The exit code of the command over a fake."""
    monkeypatch.setattr(command, "workspace", lambda _: nullcontext(mutmut))
    return command.main(list(arguments))


NOT_LISTED = f"is not on the list:\n  {NEW}"
VERDICTS: dict[str, tuple[FakeMutmut, tuple[str, ...], int, str]] = {
    "on the list": (FakeMutmut(OLD), (), 0, "95.0 %"),
    "on the list, but killed": (FakeMutmut(OLD), (), 0, f"on the list, but did not survive:\n  {OLDER}"),
    "too many, though each is on the list": (FakeMutmut(OLD, OLDER), (), 1, "are fewer than"),
    "too many of a few": (FakeMutmut(OLD, OLDER), ("--sample", "20"), 0, "every survivor is on the list"),
    "one that never ends": (FakeMutmut(NEW, OLD, OLDER, status="timeout"), (), 0, "20 |"),
    "one that is not asked for": (FakeMutmut(NEW), ("--only", f"{name(1)}*"), 0, "every survivor is on the list"),
    "one that is asked for": (FakeMutmut(NEW), ("--only", name(0)), 1, NOT_LISTED),
    "a new one in a sample": (FakeMutmut(NEW), ("--sample", "20"), 1, NOT_LISTED),
} | {
    f"a new one: {status}": (FakeMutmut(NEW, status=status), (), 1, NOT_LISTED)
    for status in ("survived", "no tests", "suspicious", "not checked")
}


@pytest.mark.parametrize("what", VERDICTS)
def test_the_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], what: str) -> None:
    mutmut, arguments, expected, words = VERDICTS[what]
    assert code(monkeypatch, mutmut, *arguments) == expected
    assert words in capsys.readouterr().out


def test_a_seed_draws_the_same_mutants_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    for seed in ("7", "7", "8"):
        mutmut = FakeMutmut()
        code(monkeypatch, mutmut, "--sample", "3", "--seed", seed)
        tried.append(mutmut.tried[-1])
    assert tried[0] == tried[1] != tried[2]
    assert len(tried[0]) == 3


def test_the_document_is_that_of_a_whole_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written = tmp_path / "mutation.md"
    assert code(monkeypatch, FakeMutmut(OLD), "--document", str(written)) == 0
    counted = table(Findings({"plan": Counter(killed=19, survived=1)}, (OLD,), {}))
    assert counted in written.read_text()
    with pytest.raises(SystemExit):
        code(monkeypatch, FakeMutmut(), "--sample", "3", "--document", str(written))
