"""Writes to stdout: lines and tables for people, one line of JSON for programs."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from takara_sync.cli.logs import json_line
from takara_sync.errors import TakaraSyncError, TooManyChanges
from takara_sync.report import Outcome, Report, Result, summary
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
_NARROWEST = 20  # columns: on a narrower terminal, lines are longer than the terminal
_HEADINGS = ("NAMESPACE", "NAME", "SIZE", "READY", "RESULT", "DETAIL")
_LAST = (Result.NOT_REACHED, Result.UNCHANGED, Result.INVALID, Result.BLOCKED, Result.FAILED)


class NotWritten(TakaraSyncError):
    """stdout could not be written."""

    exit_code = 1
    default_hint = "Free space where stdout leads to. The writes to the cluster stay."


def write(text: str) -> None:
    """Write `text` to stdout. A pipe that its reader closed is no error.

    Raises:
        NotWritten: it could not be written for another reason.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        with contextlib.suppress(OSError):  # the buffered rest would fail again when the interpreter ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise NotWritten(f"The output could not be written: {error.strerror}") from error


def show(document: object, output: str, lines: Iterable[str], error: TakaraSyncError | None = None) -> None:
    """Write the document if `output` is json; else the lines, and the error after them.

    Raises:
        NotWritten: stdout could not be written.
    """
    if output == "json":
        lines = [json_line(msgspec.to_builtins(document))]
    elif error is not None:
        lines = [*lines, style(fitted(one_line(f"error: {error}")), "red")]
    write("".join(f"{line}\n" for line in lines))


def report_lines(report: Report, *, every: bool = False, namespaces: Sequence[str] = ()) -> Iterator[str]:
    """A table of the Takaras that are not unchanged or not Ready, or of every Takara, and the counts.

    What needs attention comes last, next to the counts. namespaces: those of --namespace.
    """
    too_many = isinstance(report.error, TooManyChanges)
    hidden = {Result.UNCHANGED, Result.NOT_REACHED} if too_many else {Result.UNCHANGED}
    shown = [each for each in report.outcomes if every or each.result not in hidden or each.not_ready]
    if shown:
        shown.sort(key=_group)
        heading, *lines = aligned([_HEADINGS, *map(_row, shown)])
        yield fitted(heading, indent=4)
        for line, outcome in zip(lines, shown, strict=True):
            colour = "yellow" if outcome.not_ready else _COLOURS.get(outcome.result, "")
            yield style(fitted(line, indent=4), colour)
    yield fitted(summary(report))
    if empty := report.empty_of(namespaces):
        yield f"no Takaras in: {some(empty)}"


def _row(outcome: Outcome) -> tuple[str, ...]:
    size = "" if outcome.size is None else str(outcome.size)
    detail = outcome.detail or (outcome.ready if outcome.not_ready else "")
    return *outcome.key, size, str(outcome.ready_replicas), outcome.result, detail


def _group(outcome: Outcome) -> int:
    """The place of its rows: what is as it should be, what is not Ready, what needs a person, what failed."""
    result = Result.UNCHANGED if outcome.not_ready else outcome.result
    return 1 + _LAST.index(result) if result in _LAST and (outcome.not_ready or result != Result.UNCHANGED) else 0


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """The cells of each line in columns. Nothing is wrapped, so that grep finds it."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["   ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


def fitted(text: str, indent: int = 0) -> str:
    """The text; on a terminal wrapped to its width. indent: the spaces before each line except for the first."""
    if not sys.stdout.isatty():
        return text
    width = max(shutil.get_terminal_size().columns - indent, _NARROWEST)
    return f"\n{' ' * indent}".join(textwrap.wrap(text, width, break_on_hyphens=False) or [""])


def style(text: str, colour: str) -> str:
    """The text in this colour, on a terminal without NO_COLOR (https://no-color.org); "" is no colour."""
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain or not colour else f"\x1b[{_CODES[colour]}m{text}\x1b[0m"
