"""The log on stderr: text for people, one JSON object a line for machines."""

from __future__ import annotations

import logging
import sys
import warnings
from datetime import UTC, datetime

import msgspec

from takara_sync.reasons import one_line

_FIELDS = ("takara", "result", "changes", "exit", "counts", "seconds", "needs")
"""What our own log calls give as `extra`."""


class JsonFormatter(logging.Formatter):
    """One JSON object a line, also for tracebacks: time (UTC, milliseconds), level, logger, message."""

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
        return msgspec.json.encode(line, enc_hook=str).decode()


class TextFormatter(logging.Formatter):
    """`12:03:04 WARNING message`, nothing in it that a terminal would obey."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is the standard library's
        record.message = one_line(record.message)
        return super().formatMessage(record)


def set_up(format_name: str, level: str) -> None:
    """Send every log line, every warning and every uncaught exception of this process to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if format_name == "json" else TextFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("takara_sync").setLevel(level.upper())
    logging.captureWarnings(capture=True)
    warnings.simplefilter("default")
    sys.excepthook = lambda kind, error, trace: logging.getLogger("takara_sync").critical(
        "takara-sync failed by a bug of its own", exc_info=(kind, error, trace)
    )
