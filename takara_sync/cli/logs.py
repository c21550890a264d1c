"""The log on stderr: text for people, one JSON object a line for machines."""

from __future__ import annotations

import json
import logging
import sys
import threading
import warnings
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from takara_sync.text import one_line

_FIELDS = ("takara", "result", "changes", "exit", "counts", "seconds", "needs")
"""What our own log calls give as `extra`."""


class JsonFormatter(logging.Formatter):
    """One JSON object a line, also for tracebacks: time (UTC, milliseconds), level, logger, message."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        line |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        # In ASCII, DEL too: half a character, a bidi mark or a terminal escape cannot break a line.
        return json.dumps(line, default=str).replace("\x7f", "\\u007f")


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - a log call with the wrong arguments still becomes a line
        return f"{record.msg} {record.args}"


class TextFormatter(logging.Formatter):
    """`12:03:04 WARNING message`, nothing in it that a terminal would obey."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is the standard library's
        record.message = one_line(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name is the standard library's
        lines = super().formatException(ei).splitlines()
        return "\n".join("".join(char if char.isprintable() else " " for char in line) for line in lines)


def set_up(format_name: str, level: str) -> None:
    """Send every log line, every warning and every uncaught exception of this process to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if format_name == "json" else TextFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("takara_sync").setLevel(level.upper())
    logging.getLogger("urllib3").setLevel(logging.ERROR)  # its warnings repeat ours, with tracebacks
    logging.captureWarnings(capture=True)
    warnings.simplefilter("default")
    sys.excepthook = lambda kind, error, trace: _bug((kind, error, trace))
    threading.excepthook = lambda args: _bug((args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback))
    sys.unraisablehook = lambda args: _bug((args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback))


def _bug(exc_info: tuple[type[BaseException], BaseException, TracebackType | None]) -> None:
    logging.getLogger("takara_sync").critical("takara-sync failed by a bug of its own", exc_info=exc_info)
