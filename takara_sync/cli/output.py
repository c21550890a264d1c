"""Writing to stdout, which may be closed, full, or of another encoding, and whose reader may go away."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import sys
from pathlib import Path

import msgspec

from takara_sync.errors import TakaraSyncError


class NotWritten(TakaraSyncError):
    """What was to be shown could not be written."""

    exit_code = 1
    default_hint = "Make room where stdout leads to; what was done is done."


def json_line(document: object) -> str:
    """The document as one line of JSON. What no terminal may see, be it an escape or a bidi mark, is escaped."""
    text = msgspec.json.encode(document).decode()
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(text: str) -> str:
    return json.dumps(text)[1:-1].replace("\x7f", "\\u007f")


def write(text: str) -> None:
    """Write `text` to stdout. A reader who has gone away is no error.

    Raises:
        NotWritten: it could not be written for another reason.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        _forget()
        if not isinstance(error, BrokenPipeError):
            raise NotWritten(f"The output could not be written: {error.strerror}") from error


def _forget() -> None:
    """Drop what is still in the buffer: it would fail again when the interpreter ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def prepare_streams() -> None:
    """Make the standard streams such that no write to them fails for what is written.

    A closed one becomes /dev/null: the next file opened would otherwise take its number. A character that the encoding
    of stdout or stderr lacks is escaped, in the one form that JSON, YAML and people read alike: `\\u00fc`.
    """
    codecs.register_error("escape", _escape)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - open until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="escape")


def _escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError), "streams for output only encode"
    return _escaped(error.object[error.start : error.end]), error.end
