"""The command: arguments in, exit code out. The one place where errors become text and exit codes."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path

from takara_sync.cli import logs
from takara_sync.cli.stop import Stop
from takara_sync.errors import TakaraSyncError
from takara_sync.text import one_line

log = logging.getLogger("takara_sync")

_MESSAGE_MAX = 900  # characters; the hint comes behind it

# Module and function of each command. They are loaded when they are called: only the demo loads the simulator.
_COMMANDS = {
    "once": ("loop", "run_once"),
    "loop": ("loop", "run_loop"),
    "plan": ("plan", "run"),
    "check": ("check", "run"),
    "manifests": ("manifests", "run"),
    "demo": ("demo", "run"),
}


def run(argv: Sequence[str], stop: Stop) -> int:
    """Run one command and give its exit code. Sets up the log, and installs no signal handler.

    Raises:
        SystemExit: --help, --version.
    """
    log_format = _early_log_format(argv)
    logs.set_up(log_format, "info")
    prog = "kubectl takara" if Path(sys.argv[0]).name == "kubectl-takara" else "takara-sync"
    try:
        return _run(argv, prog, stop)
    except TakaraSyncError as error:
        message = str(TakaraSyncError(one_line(error.message)[:_MESSAGE_MAX], error.hint))
        if log_format == "json":
            log.error("%s", message)  # noqa: TRY400 - an expected error has no use for a traceback
        else:
            sys.stderr.write(f"{prog}: error: {message}\n")
        return error.exit_code
    except Exception:
        log.critical("takara-sync failed by a bug of its own", exc_info=True)
        return TakaraSyncError.exit_code


def _run(argv: Sequence[str], prog: str, stop: Stop) -> int:
    from takara_sync.cli.options import LOOP, load, parser  # noqa: PLC0415 - an error in loading it is a bug as well

    command, settings = load(argv, prog)
    if not command:
        parser(prog).print_help()
        return 2
    terminal = sys.stderr.isatty()
    level = settings.log_level or ("info" if command == LOOP or not terminal else "warning")
    logs.set_up(settings.log_format or ("text" if terminal else "json"), level)
    module, function = _COMMANDS[command]
    return int(getattr(import_module(f"takara_sync.cli.{module}"), function)(settings, stop))


def _early_log_format(argv: Sequence[str]) -> str:
    """The log format before the settings are read, for what goes wrong until then."""
    given = [after for flag, after in pairwise(argv) if flag == "--log-format"]
    given += [arg.partition("=")[2] for arg in argv if arg.startswith("--log-format=")]
    given += [os.environ.get("TAKARA_SYNC_LOG_FORMAT", "")]
    default = "text" if sys.stderr.isatty() else "json"
    return next((each for each in given if each in ("text", "json")), default)
