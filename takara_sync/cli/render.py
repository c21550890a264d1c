"""Writes to stdout: lines and tables for people, one line of JSON for programs."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from takara_sync.cli.logs import json_line
from takara_sync.cli.settings import Settings
from takara_sync.errors import TakaraSyncError, TooManyChanges
from takara_sync.report import ROLLOUT, Outcome, Report, Result, replaces_pods, summary
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
_MORE_HEADINGS = ("STATUS", "WRITTEN")  # the condition that is True, and whether this pass wrote the status
_LAST = (Result.NOT_REACHED, Result.UNCHANGED, Result.INVALID, Result.BLOCKED, Result.FAILED)


class NotWritten(TakaraSyncError):
    """stdout could not be written."""

    exit_code = 1
    default_hint = "Free space where stdout leads to. The writes to the cluster stay."


def write(text: str) -> bool:
    """Write `text` to stdout. Returns whether there is still a reader: a pipe that its reader closed is no error.

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
        return False
    return True


def show(document: object, output: str, lines: Iterable[str], error: TakaraSyncError | None = None) -> bool:
    """Write the document if `output` is json or json-brief; else the lines, and the error after them. As `write`.

    Raises:
        NotWritten: stdout could not be written.
    """
    if output.startswith("json"):
        lines = [json_line(msgspec.to_builtins(document))]
    elif error is not None:
        lines = [*lines, style(fitted(one_line(f"error: {error}")), "red")]
    return write("".join(f"{line}\n" for line in lines))


def report_lines(report: Report, *, every: bool = False, remarks: Sequence[str] = ()) -> Iterator[str]:
    """A table of the Takaras that are not unchanged or not Ready, or of every Takara; the counts, and the remarks.

    What needs attention comes last, next to the counts.
    """
    too_many = isinstance(report.error, TooManyChanges)
    hidden = {Result.UNCHANGED, Result.NOT_REACHED} if too_many else {Result.UNCHANGED}
    shown = [each for each in report.takaras if every or each.result not in hidden or each.not_ready]
    if shown:
        shown.sort(key=_group)
        headings = (*_HEADINGS[:-1], *(_MORE_HEADINGS if every else ()), _HEADINGS[-1])
        heading, *lines = aligned([headings, *(_row(each, every=every) for each in shown)])
        yield fitted(heading, indent=4)
        for line, outcome in zip(lines, shown, strict=True):
            yield style(fitted(line, indent=4), _colour(outcome))
    yield fitted(summary(report))
    yield from map(fitted, remarks)


def _more(outcome: Outcome, *, every: bool) -> tuple[str, ...]:
    """The cells of the columns that only -o wide has."""
    return (outcome.ready, "yes" if outcome.status_written else "no") if every else ()


def _colour(outcome: Outcome) -> str:
    if replaces_pods(outcome.changes):
        return "red"
    return "yellow" if outcome.not_ready else _COLOURS.get(outcome.result, "")


def _row(outcome: Outcome, *, every: bool) -> tuple[str, ...]:
    size = "" if outcome.size is None else str(outcome.size)
    detail = outcome.detail or (outcome.ready if outcome.not_ready else "")
    return *outcome.key, size, str(outcome.ready_replicas), outcome.result, *_more(outcome, every=every), detail


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
    lines = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)  # a name stays whole
    return f"\n{' ' * indent}".join(lines or [""])


def style(text: str, colour: str) -> str:
    """The text in this colour, where colours are allowed; "" is no colour."""
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if colour and _has_colours() else text


def danger(line: str) -> str:
    """The line with the word for a danger in red."""
    return line.replace(ROLLOUT, style(ROLLOUT, "red"))


def _has_colours() -> bool:
    """On a terminal, but not a dumb one. NO_COLOR (https://no-color.org) and FORCE_COLOR (https://force-color.org)
    come first, in this order."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def unmatched(settings: Settings, namespaces: Collection[str]) -> list[str]:
    """What of --namespace and --selector met no Takara: perhaps it is mistyped. namespaces: those with a Takara."""
    if settings.name:  # a name that meets none is an error
        return []
    empty = sorted(set(settings.namespace) - set(namespaces))
    none = settings.selector if not namespaces else ""
    parts = (f"no Takaras in: {some(empty)}" if empty else "", f"no Takara matches the selector {none}" if none else "")
    return list(filter(None, map(one_line, parts)))
