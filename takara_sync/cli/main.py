"""The command: one place where errors become text and exit codes.

Nothing of ours is imported before signals are ours: Ctrl-C must not end in a traceback of an import.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from takara_sync.cli.stop import Stop


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from takara_sync.cli.output import open_what_is_closed  # noqa: PLC0415 - see above
    from takara_sync.cli.stop import Stop  # noqa: PLC0415 - see above

    open_what_is_closed()
    stop = Stop()
    stop.install()
    from takara_sync.cli.errors import told  # noqa: PLC0415 - see above

    arguments = sys.argv[1:] if argv is None else argv
    try:
        return told(arguments, lambda prog: _main(arguments, prog, stop))
    finally:
        stop.finish()  # the interpreter's end would reset the handlers, and a signal kill what is done


def _main(argv: Sequence[str], prog: str, stop: Stop) -> int:
    from importlib import import_module  # noqa: PLC0415 - see above

    from takara_sync.cli import logs  # noqa: PLC0415 - see above
    from takara_sync.cli.options import LOOP, load, parser  # noqa: PLC0415 - see above

    command, settings = load(argv, prog=prog)
    if not command:
        parser(prog).print_help()
        return 2
    terminal = sys.stderr.isatty()
    level = settings.log_level or ("info" if command == LOOP or not terminal else "warning")
    logs.set_up(settings.log_format or ("text" if terminal else "json"), level)
    home, function = _COMMANDS[command]
    return int(getattr(import_module(f"takara_sync.cli.{home}"), function)(settings, stop))


# Loaded when they are called: nobody pays for the demo but who sees it.
_COMMANDS = {
    "once": ("loop", "run_once"),
    "loop": ("loop", "run_loop"),
    "plan": ("plan", "run"),
    "check": ("check", "run"),
    "manifests": ("manifests", "run"),
    "demo": ("demo", "run"),
}
