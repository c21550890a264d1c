"""What a cluster pays for: the load of one pass from the number of Takaras, and the cost of an hour at a cadence."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from benchmarks.cluster import SIZE
from benchmarks.contestants import FLOOR, INTERVAL, TAKARA_SYNC
from benchmarks.results import Results

PAGE = 500
CADENCES = (10.0, 60.0, 300.0)  # seconds
COUNTS = (10, 1_000, 10_000)
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Line:
    """base + slope * N, fitted to the medians of each number of Takaras."""

    base: float
    slope: float
    medians: dict[int, float]

    def at(self, count: int) -> float:
        """The median for so many Takaras if it was measured, else the value of the line, never negative."""
        return self.medians.get(count, max(0.0, self.base + self.slope * count))


@dataclass(frozen=True, slots=True)
class Hour:
    """What an hour with nothing to do costs: CPU seconds, memory times time, CPU seconds of the API server."""

    cpu_s: float
    mib_h: float
    api_cpu_s: float


def fitted(medians: dict[int, float]) -> Line:
    """The line through the medians, flat where it would fall: no cost falls with N, so that is noise.

    Raises StatisticsError if there are less than two.
    """
    slope, base = statistics.linear_regression(list(medians), list(medians.values()))
    if slope < 0:
        return Line(statistics.mean(medians.values()), 0.0, medians)
    return Line(base, slope, medians)


def is_known(results: Results) -> bool:
    """Whether there is enough to fit lines to: takara-sync and the floor, at least two numbers of Takaras."""
    return all(len(results.medians(name, "rest", "api_cpu_s_per_h")) > 1 for name in (FLOOR, TAKARA_SYNC))


def pages(count: int) -> int:
    """The requests of a settled pass: three lists, of Deployments, Takaras and pods, 500 objects on a page."""
    return sum(max(1, math.ceil(objects / PAGE)) for objects in (count, count, SIZE * count))


def api_cpu_of_a_pass(results: Results) -> Line:
    """The CPU of the API server, without what it uses when nobody sends anything."""
    passes = results.medians(TAKARA_SYNC, "settled", "api_cpu_s")
    walls = results.medians(TAKARA_SYNC, "settled", "wall_s")
    alone = results.medians(FLOOR, "rest", "api_cpu_s_per_h")
    return fitted({n: max(0.0, passes[n] - alone.get(n, 0.0) * walls[n] / _HOUR) for n in passes})


def of_takara_sync(results: Results, count: int, cadence: float) -> Hour:
    """One process that stays for the shortest cadence; a process for each pass otherwise."""
    per_hour = _HOUR / cadence
    api = api_cpu_of_a_pass(results).at(count) * per_hour
    if cadence <= INTERVAL:
        return Hour(_line(results, TAKARA_SYNC, "rest", "cpu_s_per_h").at(count), _memory(results, count), api)
    cpu, wall, peak = (_line(results, TAKARA_SYNC, "settled", key).at(count) for key in ("cpu_s", "wall_s", "peak_mib"))
    return Hour(cpu * per_hour, peak * wall * per_hour / _HOUR, api)


def of_operator(results: Results, operator: str, count: int) -> Hour:
    """A process that waits for events."""
    alone = _line(results, FLOOR, "rest", "api_cpu_s_per_h").at(count)
    cpu, memory, api = (
        _line(results, operator, "rest", key).at(count) for key in ("cpu_s_per_h", "resident_mib", "api_cpu_s_per_h")
    )
    return Hour(cpu, memory, max(0.0, api - alone))


def hours(results: Results, count: int) -> dict[str, Hour]:
    """takara-sync at each cadence, and each operator."""
    ours = {f"{TAKARA_SYNC} every {cadence(each)}": of_takara_sync(results, count, each) for each in CADENCES}
    return ours | {name: of_operator(results, name, count) for name in operators(results)}


def even_from(results: Results, operator: str, count: int) -> tuple[float, float]:
    """The cadences, in seconds, from which a process for each pass uses less CPU, and less memory, than the operator.

    Infinite if the operator uses no CPU. 0 if a pass holds less memory than the operator even while it runs.
    """
    hour, hourly = of_operator(results, operator, count), of_takara_sync(results, count, _HOUR)
    cpu = _HOUR * hourly.cpu_s / hour.cpu_s if hour.cpu_s else math.inf
    peak = _line(results, TAKARA_SYNC, "settled", "peak_mib").at(count)
    return cpu, 0.0 if peak <= hour.mib_h else _HOUR * hourly.mib_h / hour.mib_h


def _memory(results: Results, count: int) -> float:
    return _line(results, TAKARA_SYNC, "rest", "resident_mib").at(count)


def _line(results: Results, contestant: str, measure: str, key: str) -> Line:
    return fitted(results.medians(contestant, measure, key))


def operators(results: Results) -> list[str]:
    """The resident peers that were measured at rest with at least two numbers of Takaras."""
    peers = (name for name in results.contestants if name not in (FLOOR, TAKARA_SYNC))
    return [name for name in peers if len(results.medians(name, "rest", "cpu_s_per_h")) > 1]


def cadence(seconds: float) -> str:
    """Seconds as people say them: "10 s", "5 min", "3 h"; "never" for infinity, "any" for 0."""
    if seconds in (0.0, math.inf):
        return "never" if seconds else "any"
    for unit, name in ((_HOUR, "h"), (60.0, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} s"
