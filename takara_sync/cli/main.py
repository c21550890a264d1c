"""The process around the command: its signals and its standard streams.

Signals are handled before anything else is imported: Ctrl-C during an import prints no traceback.
"""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it would raise KeyboardInterrupt
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import codecs
import io
import os
import sys

TYPE_CHECKING = False  # `typing` would take a third of the time until here
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command as this process and return its exit code."""
    from takara_sync.cli.stop import Stop  # noqa: PLC0415 - see above

    prepare_streams()
    stop = Stop()
    stop.install()
    from takara_sync.cli.command import run  # noqa: PLC0415 - see above

    try:
        return run(sys.argv[1:] if argv is None else argv, stop)
    finally:
        stop.finish()  # the interpreter resets the handlers when it ends; a signal would then kill a finished process


def prepare_streams() -> None:
    """Prepare the standard streams so that no write fails because of its text.

    A closed stream becomes /dev/null, because the next file that opens would otherwise get its number. A character that
    the encoding of stdout or stderr lacks is escaped as in JSON and YAML: `\\u00fc`.
    """
    codecs.register_error("escape", _escape)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 - open until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="escape")


def _escape(error: UnicodeError) -> tuple[str, int]:
    import json  # noqa: PLC0415 - see above

    assert isinstance(error, UnicodeEncodeError), "stdout and stderr only encode"
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
