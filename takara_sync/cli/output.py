"""Writing to stdout, which may be closed, full, or read by somebody who has had enough."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator

import msgspec

from takara_sync.errors import TakaraSyncError


class NotWritten(TakaraSyncError):
    """What was to be shown could not be written."""

    exit_code = 1
    default_hint = "Make room where stdout leads to; what was done is done."


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Within the block stdout is written to. A reader who has gone away is no error.

    Raises:
        NotWritten: it could not be written for another reason.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _forget()
    except OSError as error:
        _forget()
        raise NotWritten(f"The output could not be written: {error.strerror}") from error


def json_line(document: object) -> str:
    """The document as one line of JSON. What no terminal may see, be it an escape or a bidi mark, is escaped."""
    text = msgspec.json.encode(document).decode()
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    return "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]  # which leaves DEL as it is


def write(text: str) -> None:
    """Write `text` to stdout. Raises NotWritten as `guarded` does."""
    with guarded():
        sys.stdout.write(text)


def _forget() -> None:
    """Whatever is still in the buffer must not fail again when the interpreter ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_what_is_closed() -> None:
    """Give each closed standard stream a place to write to: the next file opened would otherwise take its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
