"""Mutants, the list of those that may survive, and what a run found. Pure but for reading the list."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

SURVIVORS = Path(__file__).with_name("survivors.toml")
ENOUGH = 95.0  # per cent

KILLED = ("killed", "timeout")  # of mutmut's words; what never ends is noticed, what no test reaches is not


@dataclass(frozen=True, order=True)
class Mutant:
    """A change of one function: the lines that go (`- `) and come (`+ `), without their indentation.

    It stays the same when lines move, unlike mutmut's own number of it.
    """

    function: str
    diff: tuple[str, ...]

    @property
    def module(self) -> str:
        return self.function.split(".")[1]

    def __str__(self) -> str:
        return "\n    ".join((self.function, *self.diff))


def listed(path: Path = SURVIVORS) -> dict[Mutant, str]:
    """The mutants that may survive, each with the reason: no test can tell them from the code."""
    found = tomllib.loads(path.read_text())
    return {
        Mutant(function, tuple(diff)): group["reason"]
        for group in found["because"]
        for function, diffs in group["in"].items()
        for diff in diffs
    }


def mutant_of(name: str, shown: str) -> Mutant:
    """A mutant from mutmut's name of it and from what `mutmut show` prints."""
    module, _, mangled = name.rpartition(".")
    function = mangled.partition("__mutmut_")[0].removeprefix("x").removeprefix("_").replace("ǁ", ".").strip(".")
    lines = [line for line in shown.splitlines() if line[:1] in "+-" and line[:3] not in ("---", "+++")]
    return Mutant(f"{module}.{function}", tuple(f"{line[0]} {line[1:].strip()}" for line in lines if line))


@dataclass(frozen=True)
class Findings:
    """What a run found: how often each status per module, and the mutants that no test killed."""

    counts: dict[str, Counter[str]]
    survivors: tuple[Mutant, ...]
    known: dict[Mutant, str]

    @property
    def new(self) -> list[Mutant]:
        """The survivors that are not on the list."""
        return [mutant for mutant in self.survivors if mutant not in self.known]

    @property
    def dead(self) -> list[Mutant]:
        """What is on the list and did not survive."""
        return sorted(self.known.keys() - set(self.survivors))

    @property
    def total(self) -> Counter[str]:
        return sum(self.counts.values(), Counter())

    @property
    def enough(self) -> bool:
        return score(self.total) >= ENOUGH


def score(counted: Counter[str]) -> float:
    """How many of the mutants were killed, per cent. One that is on the list counts as any other."""
    return 100 * sum(counted[status] for status in KILLED) / max(counted.total(), 1)
