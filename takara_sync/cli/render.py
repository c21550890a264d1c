"""The report on stdout: a table for people, one line of JSON for machines."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import TextIO

from takara_sync.cli.output import json_line
from takara_sync.errors import TooManyChanges
from takara_sync.reasons import one_line
from takara_sync.report import Exit, Report, Result, summary

_COLOURS = {
    Result.CREATED: "green",
    Result.UPDATED: "green",
    Result.TAKEN_OVER: "green",
    Result.INVALID: "yellow",
    Result.BLOCKED: "yellow",
    Result.CONTESTED: "yellow",
    Result.FAILED: "red",
    Result.NOT_REACHED: "red",
}
_NARROWEST = 20  # columns: below that, a terminal is none to be read on
_HEADINGS = ("NAMESPACE", "NAME", "RESULT", "DETAIL")
Row = tuple[str, str, Result, str]


def print_report(
    report: Report, code: Exit, output: str, stream: TextIO | None = None, namespaces: Sequence[str] = ()
) -> None:
    """Write the report as `text`, `wide` or `json` to `stream`, by default stdout.

    `code`: the exit code of the process. `namespaces`: those that were asked.
    """
    stream = sys.stdout if stream is None else stream
    if output == "json":
        stream.write(json_line(report.document(code, namespaces)) + "\n")
    else:
        _print_table(report, stream, every=output == "wide")
        if report.error is None and (empty := report.empty_of(namespaces)):
            stream.write(f"no Takaras in: {', '.join(empty)}\n")
    stream.flush()


Style = Callable[[str, str], str]
"""A text in a colour, where the stream shows colours."""

_CODES = {"green": "32", "yellow": "33", "red": "31"}


def style_of(stream: TextIO) -> Style:
    """Colours for a terminal, unless NO_COLOR says no (https://no-color.org)."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return lambda text, _: text
    return lambda text, colour: f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if colour in _CODES else text


def fitted(text: str, stream: TextIO, indent: int) -> str:
    """A text as it is; on a terminal broken between words, its further lines indented by so many columns.

    Its first line has so many columns before it already.
    """
    if not stream.isatty():
        return text
    width = max(shutil.get_terminal_size().columns - indent, _NARROWEST)
    lines = textwrap.wrap(text, width, break_on_hyphens=False) or [""]
    return f"\n{' ' * indent}".join(lines)


def _print_table(report: Report, stream: TextIO, *, every: bool) -> None:
    rows = [
        (outcome.key.namespace, outcome.key.name, outcome.result, outcome.detail)
        for outcome in report.outcomes
        if every or outcome.result not in _hidden(report)
    ]
    if rows:
        _draw(rows, stream) if stream.isatty() else _write(rows, stream)
    last = fitted(summary(report), stream, indent=0)
    stream.write(f"{last}\nerror: {one_line(str(report.error))}\n" if report.error else f"{last}\n")


def _hidden(report: Report) -> set[Result]:
    """What the table leaves out: what is as it was, and all of it where the plan was too large to begin."""
    too_many = isinstance(report.error, TooManyChanges)
    return {Result.UNCHANGED, Result.NOT_REACHED} if too_many else {Result.UNCHANGED}


def _write(rows: list[Row], stream: TextIO) -> None:
    """Whole lines, aligned: what is piped is not wrapped, so that grep finds it."""
    lines: list[tuple[str, ...]] = [_HEADINGS, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        stream.write("   ".join(cells).rstrip() + "\n")


def _draw(rows: list[Row], stream: TextIO) -> None:
    """A table that fits the terminal, in colours where they are wanted (NO_COLOR)."""
    from rich.console import Console  # noqa: PLC0415 - only where a table is drawn
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in _HEADINGS:
        table.add_column(heading, overflow="fold")
    for namespace, name, result, detail in rows:
        coloured = Text(result, _COLOURS.get(result, ""))
        table.add_row(Text(namespace), Text(name), coloured, Text(detail))
    plain = style_of(stream)("x", "red") == "x"
    Console(file=stream, highlight=False, color_system=None if plain else "auto").print(table)
