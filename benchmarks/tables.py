"""Results as tables: Markdown that is aligned, so that it can be read as text too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.contestants import FLOOR
from benchmarks.results import Figure, Results


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table of a size. floor: the measure and the key of the floor that it is compared with."""

    label: str
    measure: str
    key: str
    unit: str = "s"
    scale: float = 1.0
    floor: tuple[str, str] | None = None


ROWS = (
    Row("start on the empty cluster", "start", "wall_s", floor=("start", "wall_s")),
    Row("start: CPU", "start", "cpu_s", floor=("start", "cpu_s")),
    Row("start: peak memory", "start", "peak_mib", "MiB"),
    Row("`--version`", "--version", "wall_s"),
    Row("`--help`", "--help", "wall_s"),
    Row("cold: Deployments right", "cold", "deployments_s", floor=("cold", "deployments_s")),
    Row("cold: statuses right", "cold", "statuses_s", floor=("cold", "deployments_s")),
    Row("cold: CPU", "cold", "cpu_s"),
    Row("cold: CPU of a request", "cold", "cpu_ms_per_request", "ms"),
    Row("cold: CPU of the API server", "cold", "api_cpu_s", floor=("cold", "api_cpu_s")),
    Row("cold: requests", "cold", "requests", ""),
    Row("cold: peak memory", "cold", "peak_mib", "MiB"),
    Row("pods come up: requests from cold until every status is right", "rollout", "requests", ""),
    Row("pods come up: of these, status writes by PATCH", "rollout", "patch takaras/status", ""),
    Row("pods come up: of these, status writes by PUT", "rollout", "update takaras/status", ""),
    Row("pods come up: statuses that did not become right", "rollout", "never_right", ""),
    Row("pods come up: CPU", "rollout", "cpu_s"),
    Row("a settled Takara in a list", "rollout", "takara_bytes", "bytes"),
    Row("settled: a pass; operators: a restart", "settled", "wall_s", floor=("settled", "wall_s")),
    Row("settled: the requests alone", "settled", "requests_s"),
    Row("settled: CPU", "settled", "cpu_s", floor=("settled", "cpu_s")),
    Row("settled: peak memory", "settled", "peak_mib", "MiB"),
    Row("settled: CPU of the API server", "settled", "api_cpu_s", floor=("settled", "api_cpu_s")),
    Row("settled: requests", "settled", "requests", ""),
    Row("settled: received", "bytes", "received_bytes", "MiB", 2**-20),
    Row("one drifted: a pass", "drifted", "wall_s"),
    Row("one drifted: requests of the pass", "drifted", "requests", ""),
    Row("one drifted: until it was repaired", "drifted", "reaction_s"),
    Row("an edit: until the Deployment was written", "edited", "reaction_s"),
    Row("an hour at rest: CPU", "rest", "cpu_s_per_h"),
    Row("an hour at rest: CPU of the API server", "rest", "api_cpu_s_per_h"),
    Row("an hour at rest: requests", "rest", "requests_per_h", ""),
    Row("an hour at rest: received", "rest", "received_mib_per_h", "MiB"),
    Row("at rest: memory", "rest", "resident_mib", "MiB"),
)


def of_size(results: Results, count: int) -> str:
    """The table of one number of Takaras: a line for each measure, a column for each contestant."""
    lines = []
    for row in ROWS:
        cells = [_cell(results, count, contestant, row) for contestant in results.contestants]
        if any(cells):
            lines.append([row.label, *cells])
    return markdown([f"{count:,} Takaras", *results.contestants], lines)


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """An aligned table; the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]

    def line(cells: Sequence[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        return f"| {' | '.join(padded)} |\n"

    return "".join(line(cells) for cells in (head, rule, *lines))


def number(value: float) -> str:
    """A whole number, or three digits that count: 0.0123, 1.23, 12.3, 123, 1,234."""
    if value == round(value) or abs(value) >= 100:  # noqa: PLR2004 - digits
        return f"{value:,.0f}"
    return f"{value:#.3g}"


def _cell(results: Results, count: int, contestant: str, row: Row) -> str:
    figure = results.figure(count, contestant, row.measure, row.key)
    if figure is None:
        return ""
    return f"{_text(figure, row)}{_ratio(results, count, contestant, row, figure)}"


def _text(figure: Figure, row: Row) -> str:
    median, least, greatest = (value * row.scale for value in (figure.median, figure.least, figure.greatest))
    spread = f" ({number(least)}–{number(greatest)})" if greatest > least else ""  # noqa: RUF001 - a range
    return f"{number(median)}{spread} {row.unit}".rstrip()


def _ratio(results: Results, count: int, contestant: str, row: Row, figure: Figure) -> str:
    """How many times the floor's median it is."""
    if row.floor is None or contestant == FLOOR:
        return ""
    floor = results.figure(count, FLOOR, *row.floor)
    return f", {figure.median / floor.median:.2f} x" if floor and floor.median else ""
