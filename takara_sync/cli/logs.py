"""The log on stderr: text, or one JSON object per line."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import warnings
from datetime import UTC, datetime
from typing import Any

from takara_sync.cli.screen import Screen
from takara_sync.text import one_line

log = logging.getLogger("takara_sync")

BUG = "takara-sync failed because of a bug in takara-sync"
_FIELDS = ("takara", "result", "changes", "exit", "counts", "seconds", "needs")
"""The keys of `extra` in our log calls."""


def json_line(value: object) -> str:
    """One line of JSON in ASCII: no terminal escape, no bidirectional mark, no lone surrogate."""
    return json.dumps(value, separators=(",", ":"), default=str).replace("\x7f", "\\u007f")


class JsonFormatter(logging.Formatter):
    """One JSON object per line, with the traceback in it: time (UTC, milliseconds), level, logger, message."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json_line(line)


class TextFormatter(logging.Formatter):
    """`12:03:04 WARNING message`, without terminal escapes."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is the standard library's
        record.message = one_line(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name is the standard library's
        lines = super().formatException(ei).splitlines()
        return "\n".join("".join(char if char.isprintable() else " " for char in line) for line in lines)


def set_up(format_name: str, level: str, *, beside_report: bool = False) -> None:
    """Send every log line, every warning and every uncaught exception of this process to stderr.

    beside_report: the report for people is on the same terminal, so the log does not repeat what it says.
    """
    handler = Screen(live=format_name == "text" and sys.stderr.isatty() and os.environ.get("TERM") != "dumb")
    if beside_report:
        handler.addFilter(lambda record: not hasattr(record, "reported"))
    handler.setFormatter(
        JsonFormatter()
        if format_name == "json"
        else TextFormatter("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")
    )
    logging.basicConfig(handlers=[handler], level=max(logging.WARNING, getattr(logging, level.upper())), force=True)
    log.setLevel(level.upper())
    logging.getLogger("urllib3").setLevel(logging.ERROR)  # its warnings repeat ours, with tracebacks
    logging.captureWarnings(capture=True)
    warnings.simplefilter("default")
    warnings.filterwarnings("ignore", "Unverified HTTPS request")  # once a request; `Connection.source` says it once
    warnings.simplefilter("ignore", ResourceWarning)  # the end of the process closes everything
    sys.excepthook = lambda *error: log.critical(BUG, exc_info=error)
    threading.excepthook = sys.unraisablehook = _log_uncaught


def announce(text: str) -> None:
    """Log at INFO, and on a terminal always: which cluster is meant must be visible there."""
    if sys.stderr.isatty() and not log.isEnabledFor(logging.INFO):
        log.handle(log.makeRecord(log.name, logging.INFO, __file__, 0, "%s", (text,), None))


def _log_uncaught(args: Any) -> None:
    log.critical(BUG, exc_info=(args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback))
