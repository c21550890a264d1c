"""docs/performance.md and docs/performance.json: the results of the last whole run."""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks import load, tables
from benchmarks.cluster import SIZE
from benchmarks.contestants import TAKARA_SYNC
from benchmarks.results import Results

DOCS = Path(__file__).parents[1] / "docs"

_INTRODUCTION = """\
# Performance

`python -m benchmarks --json docs/performance.json --page` measured all of this and wrote this page;
`python -m benchmarks --read docs/performance.json --page` writes it again from the saved numbers.

![{0}](performance-cold.svg)

![{1}](performance-settled.svg)

![{2}](performance-rest.svg)

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
- Rest was measured for a part of an hour, with takara-sync making a pass every 10 seconds in one process.
"""


def write(results: Results) -> None:
    """Write the page, its plots and the numbers. Raises ModuleNotFoundError without the extra `bench`."""
    from benchmarks import plots  # noqa: PLC0415 - only the page needs matplotlib

    results.save(DOCS / "performance.json")
    plots.draw(results, DOCS)
    (DOCS / "performance.md").write_text(text(results))


def text(results: Results) -> str:
    """The page."""
    parts = [
        _INTRODUCTION.format("Cold", "Settled", "At rest"),
        "".join(f"- {name}: {value}\n" for name, value in results.about.items()),
        "## Results\n",
        *(tables.of_size(results, count) for count in results.sizes),
    ]
    if results.failures:
        parts += ["Not measured:\n", "".join(f"- {failure.splitlines()[0]}\n" for failure in results.failures)]
    if len(results.medians(TAKARA_SYNC, "rest", "cpu_s_per_h")) > 1:
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

A settled pass over N Takaras of size {SIZE} sends ceil(N/500) + ceil(N/500) + ceil(3N/500) list requests (at least
three) and no write. It receives {tables.number(received.base / 1024)} KiB + {tables.number(received.slope / 1024)} KiB
x N, and costs the API server {tables.number(1000 * max(0, api.base))} ms + {tables.number(1000 * api.slope)} ms x N of
CPU. The lines were fitted to the results above; beyond the largest N they are an estimate.

{tables.markdown(["N", "requests", "received, MiB", "CPU of the API server, ms"], lines)}"""


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
    lines, even = [], []
    for count in load.COUNTS:
        hours = {
            f"{TAKARA_SYNC} every {load.cadence(each)}": load.of_takara_sync(results, count, each)
            for each in load.CADENCES
        }
        hours |= {operator: load.of_operator(results, operator, count) for operator in load.operators(results)}
        lines += [
            [f"{count:,}: {name}", *map(tables.number, (hour.cpu_s, hour.api_cpu_s, hour.mib_h))]
            for name, hour in hours.items()
        ]
        for operator in load.operators(results):
            cadences = load.even_from(results, operator, count)
            even.append([f"{count:,}: {operator}", *map(load.cadence, cadences)])
    costs = tables.markdown(["N", "CPU-s", "CPU-s of the API server", "MiB-hours"], lines)
    cadences_head = ["N: than", "less CPU with a pass every", "less memory with a pass every"]
    return f"""\
## A pass now and then, or an operator that stays

An hour in which nobody changes anything. Every 10 s is one process that stays; otherwise each pass is a process, and
holds memory only while it runs. Where N is beyond the results above, the numbers are an estimate by a line.

{costs}
An operator at rest uses hardly any CPU, and reacts at once. So an operator is the better choice if a change has to
arrive within seconds, or if CPU counts more than memory. takara-sync needs less than the operator only if its passes
are at least so far apart:

{tables.markdown(cadences_head, even)}"""
