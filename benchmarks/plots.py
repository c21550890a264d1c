"""The plots of docs/performance.md: SVG, the same bytes for the same results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks import load
from benchmarks.contestants import FLOOR, TAKARA_SYNC
from benchmarks.results import Results
from benchmarks.tables import number

Bars = dict[str, float]  # label to length

_OURS, _OTHERS = "#0b6e4f", "#8a94a6"
_WIDTH = 9.0  # inches
_STYLE: Any = {
    "svg.hashsalt": "takara-sync",  # else the ids in the files are random
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.bottom": False,
}


def draw(results: Results, folder: Path) -> dict[str, str]:
    """Write the plots into the folder; their titles by file name."""
    mpl.rcParams.update(_STYLE)
    largest = results.sizes[-1]
    drawn = {"performance-cold.svg": _cold(results, largest), "performance-settled.svg": _settled(results, largest)}
    if load.is_known(results):
        drawn["performance-rest.svg"] = _rest(results, largest)
    for name, figure in drawn.items():
        figure.savefig(folder / name, metadata={"Date": None})
    return {name: figure.get_suptitle() for name, figure in drawn.items()}


def _cold(results: Results, count: int) -> Figure:
    panels = {
        "seconds until every Deployment is right": _bars(results, count, "cold", "deployments_s"),
        "seconds until every status is right": _bars(results, count, "cold", "statuses_s"),
        "CPU seconds of the process": _bars(results, count, "cold", "cpu_s"),
    }
    return _panels(f"{count:,} new Takaras, from the start of the process (shorter is better)", panels)


def _settled(results: Results, count: int) -> Figure:
    panels = {
        "seconds": _bars(results, count, "settled", "wall_s"),
        "CPU seconds": _bars(results, count, "settled", "cpu_s"),
        "peak memory, MiB": _bars(results, count, "settled", "peak_mib"),
    }
    title = f"{count:,} Takaras, nothing to do: one pass of takara-sync, one restart of an operator (shorter is better)"
    return _panels(title, panels)


def _rest(results: Results, count: int) -> Figure:
    hours = load.hours(results, count)
    panels = {
        "CPU seconds of the process": {name: hour.cpu_s for name, hour in hours.items()},
        "CPU seconds of the API server": {name: hour.api_cpu_s for name, hour in hours.items()},
        "memory held, MiB-hours": {name: hour.mib_h for name, hour in hours.items()},
    }
    return _panels(f"An hour in which nobody changes {count:,} Takaras (shorter is better)", panels)


def _bars(results: Results, count: int, measure: str, key: str) -> Bars:
    figures = {name: results.figure(count, name, measure, key) for name in results.contestants}
    return {name: figure.median for name, figure in figures.items() if figure}


def _panels(title: str, panels: dict[str, Bars]) -> Figure:
    """Horizontal bars with their values, a panel below the other, so that every label can be read."""
    rows = sum(len(bars) + 2 for bars in panels.values())
    figure = Figure(figsize=(_WIDTH, 0.6 + 0.24 * rows), layout="constrained")
    figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
    ratios = [len(bars) + 1 for bars in panels.values()]
    axes: Any = figure.subplots(len(panels), 1, height_ratios=ratios)
    for axis, (label, bars) in zip(axes, panels.items(), strict=True):
        _draw_bars(axis, label, bars)
    return figure


def _draw_bars(axis: Any, label: str, bars: Bars) -> None:
    colours = [_OURS if name.startswith(TAKARA_SYNC) else _OTHERS for name in bars]
    names = ["the same requests alone (floor)" if name == FLOOR else name for name in bars]
    drawn = axis.barh(names, list(bars.values()), color=colours)
    axis.bar_label(drawn, [number(value) for value in bars.values()], padding=3)
    axis.set_title(label, loc="left", fontsize=9)
    axis.invert_yaxis()  # the first contestant is the topmost
    axis.margins(x=0.12)
    axis.set_xlim(left=0)  # also if every bar is 0
    axis.xaxis.set_visible(False)
