"""The mutants of the pure core: every one, some drawn from a seed, or those of some functions."""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from tests.mutation.document import document, table
from tests.mutation.mutants import ENOUGH, KILLED, Findings, Mutant, listed, score
from tests.mutation.mutmut import Mutmut, workspace

# mutmut makes its mutants only on the way to trying some: these few, in a short run too.
_FIRST = "takara_sync.ownership.*__mutmut_1"


def main(arguments: list[str]) -> int:
    """0 where every mutant that survives is on the list and, in a whole run, enough are killed."""
    asked = _asked(arguments)
    whole = not (asked.sample or asked.only)
    with workspace(asked.children) as mutmut:
        names = _sample(mutmut, asked.sample, asked.seed) if asked.sample else asked.only
        mutmut.run(*names)
        found = findings(mutmut, names or ["*"])
    if asked.document:
        asked.document.write_text(document(found, datetime.now(UTC).date()))
    sys.stdout.write(f"{table(found)}\n{_verdict(found, whole=whole)}\n")
    return 1 if found.new or (whole and not found.enough) else 0


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="try N mutants only")
    parser.add_argument("--only", nargs="+", default=[], metavar="PATTERN", help="as takara_sync.plan.x_decide__*")
    parser.add_argument("--seed", type=int, default=7, help="what they are drawn from; default: 7")
    parser.add_argument("--children", type=int, default=os.cpu_count() or 1, help="tried at a time; default: the CPUs")
    parser.add_argument("--document", type=Path, metavar="FILE", help="where a whole run writes docs/mutation.md")
    asked = parser.parse_args(arguments)
    if asked.document and (asked.sample or asked.only):
        parser.error("--document is for a whole run")
    return asked


def _sample(mutmut: Mutmut, size: int, seed: int) -> list[str]:
    mutmut.run(_FIRST)
    names = list(mutmut.statuses())
    return random.Random(seed).sample(names, min(size, len(names)))  # noqa: S311 - no secret


def findings(mutmut: Mutmut, patterns: list[str]) -> Findings:
    """What became of these mutants."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    survivors: list[Mutant] = []
    for name, status in mutmut.statuses().items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            counts[name.split(".")[1]][status] += 1
            if status not in KILLED:
                survivors.append(mutmut.mutant(name))
    return Findings(dict(counts), tuple(sorted(survivors)), listed())


def _verdict(found: Findings, *, whole: bool) -> str:
    parts = [f"survived, and is not on the list:\n  {mutant}" for mutant in found.new]
    if whole:
        parts += [f"on the list, but did not survive:\n  {mutant}" for mutant in found.dead]
        parts += [] if found.enough else [f"{score(found.total):.1f} % are fewer than {ENOUGH} %"]
    return "\n".join(parts) or "every survivor is on the list"
