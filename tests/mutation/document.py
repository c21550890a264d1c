"""docs/mutation.md: the numbers of a run, and the survivors with their reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date
from importlib.metadata import version

from tests.mutation.mutants import Findings, Mutant, score

_COLUMNS = ("killed", "timeout", "survived", "no tests")
_HEAD = """\
# Mutation testing of the pure core

A mutant is the code with one change: another operator, number, text or argument. A mutant is killed if a test fails,
and survives if every test passes. The tests of `tests/unit` must kill at least 95 % of the mutants of the modules that
decide. The survivors are listed below, with the reason why no test can kill them.

    python -m tests.mutation                        every mutant; exit 1 below 95 %, or if a survivor is not listed
    python -m tests.mutation --sample 40 --seed 7   a sample; exit 1 if a survivor is not listed

The tool is [mutmut](https://mutmut.readthedocs.io/). It keeps all mutants in one process that forks, and for each
mutant runs only the tests that reach it. So a complete run takes minutes. We also tried cosmic-ray: it starts pytest
again for each mutant, runs every test, and changes no text and no argument. mutmut skips properties, so they become
methods in the copy that is mutated. It also skips code outside of functions: the tests compare limits, tables and words
as data, and the keys of lists with the schema that Kubernetes publishes.

`tests/mutation/survivors.toml` identifies a survivor by its function and the changed lines, so it is still valid when
lines move. If a function contains the same lines twice, one entry is valid for both. A mutant that never ends counts as
killed. A mutant that no test reaches counts as a survivor.
"""


def document(found: Findings, day: date) -> str:
    """docs/mutation.md after a whole run."""
    tried = f"{day.isoformat()}, mutmut {version('mutmut')}, `nice -n 19 python -m tests.mutation`:"
    return f"{_HEAD}\n## The last whole run\n\n{tried}\n\n{table(found)}\n\n{survivors(found.known)}"


def table(found: Findings) -> str:
    """The numbers per module."""
    head = ("module", *_COLUMNS, "mutants", "score")
    rows = [_row(module, counts) for module, counts in sorted(found.counts.items())]
    lines = [head, *rows, _row("all", found.total)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    padded = [
        "| " + " | ".join(_pad(text, width) for text, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 1) + ("-" if not at else ":") for at, width in enumerate(widths)) + "|"
    return "\n".join([padded[0], rule, *padded[1:]])


def _row(name: str, counts: Counter[str]) -> tuple[str, ...]:
    other = [f"{number} {status}" for status, number in counts.items() if status not in _COLUMNS]
    numbers = (str(counts[status]) for status in _COLUMNS)
    return (name, *numbers, str(counts.total()) + "".join(f", {text}" for text in other), f"{score(counts):.1f} %")


def _pad(text: str, width: int) -> str:
    return text.ljust(width) if text[:1].isalpha() else text.rjust(width)


def survivors(known: dict[Mutant, str]) -> str:
    """The list, by reason."""
    by_reason: dict[str, list[Mutant]] = {}
    for mutant, reason in known.items():
        by_reason.setdefault(reason, []).append(mutant)
    parts = [f"### {reason}\n\n{_diffs(mutants)}\n" for reason, mutants in by_reason.items()]
    return "## The survivors and why\n\n" + "\n".join(parts)


def _diffs(mutants: Iterable[Mutant]) -> str:
    return "```diff\n" + "\n".join("\n".join((f"@@ {m.function} @@", *m.diff)) for m in mutants) + "\n```"
