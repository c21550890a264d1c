"""The termination message: why the process ended, as JSON, for `kubectl describe pod`.

https://kubernetes.io/docs/tasks/debug/debug-application/determine-reason-pod-failure/
Without it the kubelet would take the end of the log; in a large cluster this is only the end of the report.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from takara_sync.cli.logs import json_line
from takara_sync.report import Exit, Outcome, Report, Result
from takara_sync.text import one_line

log = logging.getLogger("takara_sync")

DEFAULT = Path("/dev/termination-log")  # the default of terminationMessagePath; only a container has this file
BYTES_MAX = 4096  # the kubelet cuts off the rest
_ERROR_MAX = 1000  # bytes as JSON
_MESSAGE_MAX = 600
_LEFT_OUT_BYTES = 20  # of `,"leftOut":50000`


def message(code: int, error: object = "", report: Report | None = None) -> str:
    """One JSON object of at most BYTES_MAX bytes: exit, name, error, counts, and as many failures as there is room for.

    error: why there is no report, or why the report could not be written. leftOut: the number of failures without room.
    """
    text = one_line(str(error or (report and report.error) or ""))
    document = {
        "exit": int(code),
        "name": Exit(code).name.lower(),
        "error": _short(text, _ERROR_MAX),
        "counts": {str(result): count for result, count in report.counts.items()} if report else {},
    }
    failures, left_out = [], 0
    room = BYTES_MAX - _LEFT_OUT_BYTES - len(json_line(document | {"failures": []}))
    for failure in _failures(report) if report else ():
        room -= len(json_line(failure)) + 1
        if room < 0:
            left_out += 1
        else:
            failures.append(failure)
    return json_line(document | {"failures": failures} | ({"leftOut": left_out} if left_out else {}))


def write(path: str | None, text: str) -> None:
    """Write the message. path: None for the default, which is written only if it exists. A failure is one warning."""
    try:
        with Path(path or DEFAULT).open("w" if path else "r+") as file:
            file.truncate()
            file.write(text)
    except OSError as error:
        if path:
            log.warning("the termination message could not be written to %s: %s", path, error.strerror)


def _failures(report: Report) -> Iterator[dict[str, str]]:
    """The Takaras that failed, then those that need a person."""
    for result in (Result.FAILED, Result.BLOCKED, Result.INVALID):
        yield from (_failure(each) for each in report.takaras if each.result == result)


def _failure(outcome: Outcome) -> dict[str, str]:
    return {
        "takara": str(outcome.key),
        "result": str(outcome.result),
        "reason": str(outcome.reason),
        "message": _short(one_line(outcome.message), _MESSAGE_MAX),
    }


def _short(text: str, most: int) -> str:
    """The text, cut so that it takes at most `most` bytes as JSON."""
    short = text
    while len(json_line(short)) > most:
        short = short[: len(short) * 9 // 10 - 3] + "..."
    return short
