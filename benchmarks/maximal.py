"""What a pass over a large cluster costs takara-sync itself: `python -m benchmarks.maximal --takaras 10000 --runs 5`.

Runs `takara-sync once` as a process against a generated fleet, which another process serves from prepared bytes
(benchmarks/generated), and prints the wall time, the CPU time and the peak memory of the process, the bytes that it
received and its requests. A first run is not measured: in it the server makes its pages.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.generated.options import fleet_arguments, fleet_parser

COMMAND = str(Path(sys.executable).with_name("takara-sync"))
PASS_TIMEOUT = 600  # seconds
_CONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "generated",
    "users": [{"name": "generated", "user": {"token": "generated"}}],
    "contexts": [{"name": "generated", "context": {"cluster": "generated", "user": "generated"}}],
}


@dataclass(frozen=True)
class Run:
    """One pass. wall, cpu (user and system): seconds. peak: bytes of resident memory. received: bytes on the wire."""

    wall: float
    cpu: float
    peak: int
    received: int
    requests: dict[str, int]


@contextlib.contextmanager
def served(arguments: Sequence[str] = ()) -> Iterator[int]:
    """A generated fleet in a process of its own, on this port; the arguments are those of its `main`."""
    command = [sys.executable, "-m", "benchmarks.generated.server", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as server:  # noqa: S603 - ours
        assert server.stdin
        assert server.stdout
        try:
            yield int(server.stdout.readline())
        finally:
            server.stdin.close()


def run(port: int, folder: Path, arguments: Sequence[str] = ()) -> Run:
    """One `takara-sync once`. Raises RuntimeError if it fails."""
    kubeconfig = folder / "kubeconfig"
    cluster = {"name": "generated", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    kubeconfig.write_text(json.dumps(_CONFIG | {"clusters": [cluster]}))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "KUBECONFIG": str(kubeconfig)}
    _counts(port)
    with (folder / "output").open("w+") as output:
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - the command
            [COMMAND, "once", f"--pass-timeout={PASS_TIMEOUT}", *arguments],
            env=environment,
            stdout=output,
            stderr=output,
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            raise RuntimeError(f"takara-sync ended with {process.returncode}: {output.read()[-2000:]}")
    counts = _counts(port)
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, counts["bytes"], counts["requests"])


def _counts(port: int) -> Any:
    """What was requested since the last call."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/counts")
    found = json.loads(connection.getresponse().read())
    connection.close()
    return found


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """The median, the least and the most of each figure, and the requests by verb of the last run."""
    figures = ("wall", "cpu", "peak", "received")
    values = {name: sorted(getattr(each, name) for each in runs) for name in figures}
    found = {
        name: {"median": statistics.median(all_), "min": all_[0], "max": all_[-1]} for name, all_ in values.items()
    }
    return {**found, "requests": runs[-1].requests, "runs": [asdict(each) for each in runs]}


def _text(found: dict[str, Any]) -> Iterator[str]:
    units = {"wall": (1, "s"), "cpu": (1, "s"), "peak": (2**20, "MiB"), "received": (10**6, "MB")}
    for name, (divisor, unit) in units.items():
        median, least, most = (found[name][which] / divisor for which in ("median", "min", "max"))
        yield f"{name:<9} {median:10.2f} {unit:<4} ({least:.2f} to {most:.2f})\n"
    yield "requests  " + ", ".join(f"{count:,} {verb}" for verb, count in sorted(found["requests"].items())) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = fleet_parser("python -m benchmarks.maximal", (__doc__ or "").partition(":")[0])
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="measured runs; default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("arguments", nargs="*", help="after --: more arguments of takara-sync once")
    options = parser.parse_args(argv)
    with served(fleet_arguments(options)) as port, tempfile.TemporaryDirectory() as folder:
        runs = [run(port, Path(folder), options.arguments) for _ in range(options.runs + 1)]
    found = {name: getattr(options, name) for name in ("takaras", "namespaces", "annotations", "cold")}
    found |= summary(runs[1:])
    sys.stdout.writelines([json.dumps(found, indent=2), "\n"] if options.json else _text(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
