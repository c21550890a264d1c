"""Measure takara-sync beside its peers on real control planes: `python -m benchmarks`.

For each size, each contestant gets a fresh control plane, one at a time. The machine should have nothing else to do.
`--sizes 0,10,1000,2000` takes about 25 minutes on two CPUs; `--sizes 10 --runs 1 --rest 10` two or three.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

from benchmarks import tables
from benchmarks.cluster import Cluster
from benchmarks.contestants import FLOOR, NAMES, TAKARA_SYNC, Contestant, contestants
from benchmarks.course import Effort, measure
from benchmarks.results import Results
from tests.control_plane.build import HOW_TO_BUILD, assets

SIZES = [0, 10, 1000, 2000, 5000]

_GO_MOD = Path(__file__).parent / "peers" / "controller_runtime" / "go.mod"


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table for each size; 1 if something could not be measured."""
    options = _parser().parse_args(argv)
    if options.page:
        from benchmarks import page  # noqa: PLC0415 - it needs matplotlib; better that is missed now than after the run

        options.json = options.json or page.SAVED
    results = Results.load(options.read) if options.read else _measured(options)
    sys.stdout.write("\n".join(tables.of_size(results, count) for count in results.sizes))
    if options.page:
        page.write(results)
    return 1 if results.failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--sizes", type=_numbers, default=SIZES, help="numbers of Takaras; default: %(default)s")
    parser.add_argument("--contestants", type=_names, default=NAMES, help=f"some of: {','.join(NAMES)}; default: all")
    parser.add_argument("--runs", type=int, default=5, help="runs of each measure; default: %(default)s")
    parser.add_argument("--patience", type=float, default=30, metavar="S", help=_PATIENCE_HELP)
    parser.add_argument("--rest", type=float, default=30, metavar="S", help="how long to measure rest; default: 30 s")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the results after each measure")
    parser.add_argument("--read", type=Path, metavar="FILE", help="measure nothing; print what --json has saved")
    parser.add_argument("--page", action="store_true", help="write docs/performance.md, .json and the plots")
    return parser


_PATIENCE_HELP = (
    "no further run of a measure that took so long; the cold runs of floor and takara-sync are all made; default: 30 s"
)


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(NAMES):
        raise argparse.ArgumentTypeError(f"no such contestant: {', '.join(sorted(unknown))}")
    return names


def _measured(options: argparse.Namespace) -> Results:
    folder = assets()
    if folder is None:
        raise SystemExit(f"there is no control plane: {HOW_TO_BUILD}")
    results = Results({**_about(folder), "rest, seconds": options.rest})
    effort = Effort(options.runs, options.patience, options.rest)
    with tempfile.TemporaryDirectory() as built:
        chosen = contestants(options.contestants, Path(built))
        for count in options.sizes:
            _measure_size(results, count, chosen, effort, folder, options.json)
    return results


def _measure_size(
    results: Results, count: int, chosen: list[Contestant], effort: Effort, folder: Path, saved: Path | None
) -> None:
    """The runs of the contestants take turns, so that what disturbs the machine for a while disturbs all of them."""
    for run in range(effort.runs if count else 1):
        for contestant in chosen:
            spent = sum(results.values(count, contestant.name, "cold", "statuses_s"))
            if spent < effort.patience or contestant.name in (FLOOR, TAKARA_SYNC):
                _measure_one(results, count, run, contestant, effort, folder)
                if saved:
                    results.save(saved)


def _measure_one(results: Results, count: int, run: int, contestant: Contestant, effort: Effort, folder: Path) -> None:
    """A failure of a contestant ends its run, and nothing else."""
    where = f"{count} Takaras, run {run + 1}, {contestant.name}"
    began = time.monotonic()
    try:
        with Cluster(folder, count) as cluster:
            for one in measure(cluster, contestant, effort, whole=run == 0):
                results.add(count, run, one)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
        results.failures.append(f"{where}: {type(error).__name__}: {error}")
        sys.stderr.write(f"{results.failures[-1]}\n")
    sys.stderr.write(f"{where}: {time.monotonic() - began:.0f} s\n")


def _about(folder: Path) -> dict[str, Any]:
    """What the numbers depend on."""
    server = subprocess.run([folder / "kube-apiserver", "--version"], capture_output=True, text=True, check=True)  # noqa: S603
    framework = re.search(r"controller-runtime (\S+)", _GO_MOD.read_text())
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "CPUs": os.cpu_count(),
        "memory, GiB": round(psutil.virtual_memory().total / 2**30),
        "load before the run": round(os.getloadavg()[0], 1),
        "API server": server.stdout.strip(),
        "Python": platform.python_version(),
        "takara-sync": version("takara-sync"),
        "kopf": _version_of("kopf"),
        "controller-runtime": framework and framework[1],
    }


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    sys.exit(main())
