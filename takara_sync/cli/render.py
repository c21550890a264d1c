"""What a command shows on stdout: lines and tables for people, one line of JSON for machines."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from takara_sync.cli.output import json_line, write
from takara_sync.errors import TakaraSyncError, TooManyChanges
from takara_sync.report import Report, Result, summary
from takara_sync.text import one_line, some

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
_CODES = {"green": "32", "yellow": "33", "red": "31"}
_NARROWEST = 20  # columns: on a narrower terminal, lines run over instead of being folded
_HEADINGS = ("NAMESPACE", "NAME", "RESULT", "DETAIL")


def show(document: object, output: str, lines: Iterable[str], error: TakaraSyncError | None = None) -> None:
    """Write the document to stdout, or unless `output` is json these lines, and behind them the error.

    Raises:
        NotWritten: stdout takes no more.
    """
    if output == "json":
        lines = [json_line(document)]
    elif error is not None:
        lines = [*lines, style(fitted(one_line(f"error: {error}")), "red")]
    write("".join(f"{line}\n" for line in lines))


def report_lines(report: Report, *, every: bool = False, namespaces: Sequence[str] = ()) -> Iterator[str]:
    """A table of what is not unchanged, or of every Takara, and the counts.

    `namespaces`: those that were asked.
    """
    too_many = isinstance(report.error, TooManyChanges)
    hidden = {Result.UNCHANGED, Result.NOT_REACHED} if too_many else {Result.UNCHANGED}
    shown = [outcome for outcome in report.outcomes if every or outcome.result not in hidden]
    if shown:
        yield from _table([(each.key.namespace, each.key.name, each.result, each.detail) for each in shown])
    yield fitted(summary(report))
    if empty := report.empty_of(namespaces):
        yield f"no Takaras in: {some(empty)}"


def _table(rows: Sequence[tuple[str, str, Result, str]]) -> Sequence[str]:
    """Columns; on a terminal folded to its width and coloured."""
    if not sys.stdout.isatty():
        return aligned([_HEADINGS, *rows])
    from rich.console import Console  # noqa: PLC0415 - only where a table is drawn
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in _HEADINGS:
        table.add_column(heading, overflow="fold")
    for namespace, name, result, detail in rows:
        table.add_row(Text(namespace), Text(name), Text(result, _COLOURS.get(result, "")), Text(detail))
    console = Console(highlight=False, color_system="auto" if _shows_colours() else None)
    with console.capture() as drawn:
        console.print(table)
    return drawn.get().splitlines()


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """The cells of each line in columns; nothing is wrapped, so that grep finds it."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["   ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


def fitted(text: str, indent: int = 0) -> str:
    """A text as it is; on a terminal broken between words, its further lines indented by so many columns.

    Its first line has so many columns before it already.
    """
    if not sys.stdout.isatty():
        return text
    width = max(shutil.get_terminal_size().columns - indent, _NARROWEST)
    return f"\n{' ' * indent}".join(textwrap.wrap(text, width, break_on_hyphens=False) or [""])


def style(text: str, colour: str) -> str:
    """The text in this colour, where stdout shows colours and there is one."""
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if colour and _shows_colours() else text


def _shows_colours() -> bool:
    """On a terminal, unless NO_COLOR says no (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
