"""How far a pass overruns its deadline where the wire keeps it waiting: `python -m benchmarks.deadline`.

Runs the faults of the wire that wait (tests/wire/cells.py), each by the real command as a process, and prints for
each fault the worst overshoot of --pass-timeout: by the process, from its first connection to its end, and by the pass
alone, as its report has it. Ends with 1 where a process exceeds it by more than a second, or where something else does
not hold that the tests look for. The machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.tables import markdown
from tests.support.certificates import Certificates
from tests.wire.cells import FAULTS, Cell, cells, run
from tests.wire.command import Command
from tests.wire.holds import problems

Seconds = tuple[float, float]  # by the process, by the pass alone
LIMIT = 1.0  # seconds; on a machine that has something else to do give --limit
PASS_TIMEOUT = 2.0  # seconds
TIMEOUTS = ("--request-timeout", "700ms", "--pass-timeout", f"{PASS_TIMEOUT:g}s", "--log-level", "debug")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the worst overshoot of each fault; 1 where one is beyond the limit."""
    options = _parser().parse_args(argv)
    chosen = _chosen(options.sample, options.seed)
    worst: dict[str, Seconds] = {}
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.parallel) as pool:
        given = _given(Path(folder))
        for cell, (over, found) in zip(chosen, pool.map(lambda one: _measured(one, given), chosen), strict=True):
            process, in_pass = worst.get(cell.name, over)
            worst[cell.name] = max(process, over[0]), max(in_pass, over[1])
            wrong += found
    return _print(worst, wrong, len(chosen), options.limit)


def _print(worst: dict[str, Seconds], wrong: list[str], how_many: int, limit: float) -> int:
    ranked = sorted(worst.items(), key=lambda item: item[1], reverse=True)
    lines = [[fault, f"{process:+.2f} s", f"{in_pass:+.2f} s"] for fault, (process, in_pass) in ranked]
    sys.stdout.write(markdown(["worst overshoot with", "process", "the pass"], lines))
    sys.stdout.writelines(f"{what}\n" for what in wrong)
    over = sum(process > limit for process, _ in worst.values())
    sys.stdout.write(f"{how_many} cells, pass deadline {PASS_TIMEOUT:g} s: {over} faults beyond {limit:+g} s\n")
    return 1 if over or wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.deadline", description=(__doc__ or "").partition(":")[0]
    )
    parser.add_argument("--sample", type=int, metavar="N", help="only so many cells; default: all")
    parser.add_argument("--seed", type=int, default=7, help="what the sample is drawn from; default: 7")
    parser.add_argument("--parallel", type=int, default=2, metavar="N", help="processes side by side; default: 2")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="S", help="seconds; default: %(default)g")
    return parser


def _chosen(sample: int | None, seed: int) -> list[Cell]:
    """What waits: for an answer, for a handshake, or between tries."""
    waiting = [
        name for name, fault in FAULTS.items() if fault.ends == "late" or fault.lasts or name[:3] in ("429", "503")
    ]
    every = [cell for name in waiting for cell in cells(name)]
    return every if sample is None else random.Random(seed).sample(every, min(sample, len(every)))  # noqa: S311


def _given(folder: Path) -> dict[str, Any]:
    made = Certificates(folder)
    shown = {"here": made.served(), "elsewhere": made.served("elsewhere"), "expired": made.served(expired=True)}
    return {"certificates": shown}


def _measured(cell: Cell, given: dict[str, Any]) -> tuple[Seconds, list[str]]:
    """How far the deadline was overrun, and what does not hold."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(cell, Command(Path(folder)), Path(folder), given, TIMEOUTS)
    found = problems(done, exact=False)
    in_pass = done.ended.report["seconds"] if done.ended.stdout else done.seconds
    return (done.seconds - PASS_TIMEOUT, in_pass - PASS_TIMEOUT), found


if __name__ == "__main__":
    sys.exit(main())
