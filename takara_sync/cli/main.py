"""The command: one place where errors become text and exit codes."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from takara_sync.cli import logs
from takara_sync.cli.stop import Stop
from takara_sync.errors import TakaraSyncError

if TYPE_CHECKING:
    from takara_sync.cli.settings import Settings

log = logging.getLogger("takara_sync")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    argv = sys.argv[1:] if argv is None else argv
    stop = Stop()
    stop.install()
    log_format = _early_log_format(argv)
    logs.set_up(log_format, "info")
    prog = "kubectl takara" if Path(sys.argv[0]).name == "kubectl-takara" else "takara-sync"
    try:
        return _main(argv, prog, stop)
    except TakaraSyncError as error:
        if log_format == "json":
            log.error("%s", error)  # noqa: TRY400 - an expected error has no use for a traceback
        else:
            sys.stderr.write(f"{prog}: error: {error}\n")
        return error.exit_code
    except Exception:
        log.critical("takara-sync failed by a bug of its own", exc_info=True)
        return TakaraSyncError.exit_code


def _main(argv: Sequence[str], prog: str, stop: Stop) -> int:
    from takara_sync.cli.options import LOOP, load, parser  # noqa: PLC0415 - pydantic is heavy; after the signals

    command, settings = load(argv, prog=prog)
    if not command:
        parser(prog).print_help()
        return 2
    terminal = sys.stderr.isatty()
    level = settings.log_level or ("info" if command == LOOP or not terminal else "warning")
    logs.set_up(settings.log_format or ("text" if terminal else "json"), level)
    return _run(command, settings, stop)


def _run(command: str, settings: Settings, stop: Stop) -> int:
    home, function = _COMMANDS[command]
    code: int = getattr(import_module(f"takara_sync.cli.{home}"), function)(settings, stop)
    return int(code)


# Loaded when they are called: nobody pays for the demo but who sees it.
_COMMANDS = {
    "once": ("loop", "run_once"),
    "loop": ("loop", "run_loop"),
    "plan": ("plan", "run"),
    "check": ("check", "run"),
    "demo": ("demo", "run"),
}


def _early_log_format(argv: Sequence[str]) -> str:
    """The log format before the settings are read, for what goes wrong until then."""
    said = [after for flag, after in pairwise(argv) if flag == "--log-format"]
    said += [arg.partition("=")[2] for arg in argv if arg.startswith("--log-format=")]
    said += [os.environ.get("TAKARA_SYNC_LOG_FORMAT", "")]
    default = "text" if sys.stderr.isatty() else "json"
    return next((each for each in said if each in ("text", "json")), default)
