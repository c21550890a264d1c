"""docs/performance.md and docs/performance.json: the results of the last whole run."""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks import load, plots, tables
from benchmarks.cluster import SIZE
from benchmarks.contestants import TAKARA_SYNC
from benchmarks.results import Results

DOCS = Path(__file__).parents[1] / "docs"
SAVED = DOCS / "performance.json"

_INTRODUCTION = """\
# Performance

`python -m benchmarks --page` measured all of this, and wrote this page and its numbers;
`python -m benchmarks --read docs/performance.json --page` writes the page again from the saved numbers.

{plots}
## What was measured

- Each contestant had a fresh control plane (a real etcd and API server) on the same machine, and shared the CPUs with
  it. The runs of the contestants took turns.
- The **floor** is what cannot be avoided. Cold: the applies of takara-sync, sent by 16 threads with bare `http.client`,
  and no status. Settled: the three lists of takara-sync, received with bare urllib3 and thrown away. Start: the import
  of the two largest dependencies of takara-sync. "x" is the ratio of a median to the median of the floor.
- **kopf** and **controller-runtime** are small operators as the tutorials of these frameworks write them
  (`benchmarks/peers/`). controller-runtime has one worker by default, and no limit on its requests per second;
  **controller-runtime-16** has MaxConcurrentReconciles 16.
- Numbers are medians, with the least and the greatest in brackets. Every time begins at the start of the process.
- No controller manager and no kubelet ran. The benchmark itself wrote the pods and the statuses of Deployments, at the
  same pace for every contestant. What starting the container of a Job costs is not in the numbers.
- *Pods come up* counts all requests of a contestant from the first until every status is right; takara-sync makes a
  pass every 5 seconds meanwhile.
- Rest was measured for the seconds below and is given for an hour. takara-sync made a pass every 10 seconds in one
  process.
"""


def write(results: Results) -> None:
    """Write the page, its plots and the numbers."""
    results.save(SAVED)
    (DOCS / "performance.md").write_text(text(results, plots.draw(results, DOCS)))


def text(results: Results, drawn: dict[str, str]) -> str:
    """The page. drawn: the plots, by file name, with the text for who cannot see them."""
    images = "".join(f"![{title}]({file})\n\n" for file, title in drawn.items())
    parts = [
        _INTRODUCTION.format(plots=images),
        "".join(f"- {name}: {value}\n" for name, value in results.about.items()),
        "## Results\n",
        *(tables.of_size(results, count) for count in results.sizes),
    ]
    if results.failures:
        parts += ["Not measured:\n", "".join(f"- {failure.splitlines()[0]}\n" for failure in results.failures)]
    if load.is_known(results):
        parts += [_formula(results), _staleness(results), _resident_or_not(results)]
    return "\n".join(parts)


def _formula(results: Results) -> str:
    """The load of one settled pass."""
    received = load.fitted(results.medians(TAKARA_SYNC, "bytes", "received_bytes"))
    api = load.api_cpu_of_a_pass(results)
    lines = []
    for count in load.COUNTS:
        row = (load.pages(count), received.at(count) / 2**20, 1000 * api.at(count))
        lines.append([f"{count:,}", *map(tables.number, row)])
    return f"""\
## The load of a pass

A settled pass over N Takaras of size {SIZE} sends three lists, 500 objects on a page, and no write:

- requests: max(1, ceil(N / 500)) x 2 + max(1, ceil({SIZE} x N / 500))
- received: {_line(received, 1 / 1024, "KiB")}
- CPU of the API server: {_line(api, 1000, "ms")}

The lines were fitted to the results above. The numbers of an N that was not measured are an estimate by them.

{tables.markdown(["N", "requests", "received, MiB", "CPU of the API server, ms"], lines)}"""


def _line(line: load.Line, scale: float, unit: str) -> str:
    base, slope = line.base * scale, line.slope * scale
    return f"{tables.number(slope)} {unit} x N {'-' if base < 0 else '+'} {tables.number(abs(base))} {unit}"


def _staleness(results: Results) -> str:
    """The greatest age of what a pass has not seen yet."""
    lines = []
    for count in results.medians(TAKARA_SYNC, "settled", "wall_s"):
        walls = results.values(count, TAKARA_SYNC, "settled", "wall_s")
        slow = _percentile_99(walls)
        lines.append(
            [f"{count:,}", f"{slow:.2f} s ({len(walls)})", *(f"{each + slow:.1f} s" for each in load.CADENCES)]
        )
    head = ["N", "slow pass (of so many)", *(f"every {load.cadence(each)}" for each in load.CADENCES)]
    return f"""\
## How old an unseen change can be

At most the interval and a slow pass: the 99th percentile, which is the slowest where few passes were measured.

{tables.markdown(head, lines)}"""


def _percentile_99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[-1] if len(values) >= 100 else max(values)  # noqa: PLR2004


def _resident_or_not(results: Results) -> str:
    """An hour in which nothing changes, for each cadence and each operator."""
    costs, even = [], []
    for count in load.COUNTS:
        for name, hour in load.hours(results, count).items():
            numbers = map(tables.number, (hour.cpu_s, hour.api_cpu_s, hour.mib_h))
            costs.append([f"{count:,}: {name}", *numbers])
        for operator in load.operators(results):
            cadences = map(load.cadence, load.even_from(results, operator, count))
            even.append([f"{count:,}: {operator}", *cadences])
    return f"""\
## A pass now and then, or an operator that stays

An hour in which nobody changes anything. Every 10 s is one process that stays; otherwise each pass is a process, and
holds memory only while it runs. (The default CronJob starts the process of every 10 s anew each minute: add 60 starts.)
An N that was not measured is an estimate by a line.

{tables.markdown(["N", "CPU-s", "CPU-s of the API server", "MiB-hours"], costs)}
An operator at rest uses hardly any CPU, and reacts at once. So an operator is the better choice if a change has to
arrive within seconds, or if CPU counts more than memory. A process for each pass needs less than the operator only if
the passes are at least so far apart:

{tables.markdown(["N: than", "less CPU", "less memory"], even)}"""
