"""The command: arguments in, exit code out. The one place where errors become text and exit codes.

Imports happen when they are needed: `--version` needs almost none, `--help` no Kubernetes client, and only the demo
needs the simulator.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from pkgutil import resolve_name

from takara_sync import __version__
from takara_sync.cli.stop import Stop
from takara_sync.errors import TakaraSyncError

log = logging.getLogger("takara_sync")

_MESSAGE_MAX = 900  # bytes; the hint follows
_COMMANDS = {
    "once": "loop:run_once",
    "loop": "loop:run_loop",
    "plan": "plan:run",
    "check": "check:run",
    "status": "status.command:run",
    "adopt": "adopt:run",
    "manifests": "manifests:run",
    "demo": "demo:run",
    "completion": "completion:run",
}
"""Module and function of each command."""


def run(argv: Sequence[str], stop: Stop) -> int:
    """Run one command and return its exit code. Sets up the log, and installs no signal handler.

    Raises:
        SystemExit: --help, --version.
    """
    log_format, message_path = _early(argv)
    from takara_sync.cli import logs, termination  # noqa: PLC0415 - see above
    from takara_sync.text import one_line, shortened  # noqa: PLC0415

    logs.set_up(log_format, "info")
    prog = "kubectl takara" if Path(sys.argv[0]).name == "kubectl-takara" else "takara-sync"
    try:
        from takara_sync.cli.options import LOOP, load  # noqa: PLC0415 - an error while it loads is a bug too

        command, settings = load(argv, prog)
        if not command:
            return _without_command(argv, prog)
        terminal = sys.stderr.isatty()
        level = settings.log_level or ("info" if command == LOOP or not terminal else "warning")
        beside_report = terminal and sys.stdout.isatty() and settings.output in ("text", "wide")
        logs.set_up(settings.log_format or ("text" if terminal else "json"), level, beside_report=beside_report)
        message_path = settings.termination_message_path
        return int(resolve_name(f"takara_sync.cli.{_COMMANDS[command]}")(settings, stop))
    except TakaraSyncError as error:
        message = str(TakaraSyncError(shortened(one_line(error.message), _MESSAGE_MAX), error.hint))
        termination.write(message_path, termination.message(error.exit_code, message))
        if log_format == "json":
            log.error("%s", message)  # noqa: TRY400 - an expected error needs no traceback
        else:
            sys.stderr.write(f"{prog}: error: {message}\n")
        return error.exit_code
    except Exception as error:
        log.critical(logs.BUG, exc_info=True)
        what = f"{logs.BUG}: {type(error).__name__}: {error}"
        termination.write(message_path, termination.message(TakaraSyncError.exit_code, what))
        return TakaraSyncError.exit_code


def _without_command(argv: Sequence[str], prog: str) -> int:
    from takara_sync.cli.options import no_command, parser  # noqa: PLC0415 - see above

    if argv:
        raise no_command(argv, prog)
    parser(prog).print_help()
    return 2


def _early(argv: Sequence[str]) -> tuple[str, str | None]:
    """The format of the log and the path of the termination message until the settings are read.

    Prints the version and exits if that is asked for.
    """
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--version", action="version", version=f"takara-sync {__version__}")
    early.add_argument("--log-format", nargs="?", default=os.environ.get("TAKARA_SYNC_LOG_FORMAT"))
    early.add_argument(
        "--termination-message-path", nargs="?", default=os.environ.get("TAKARA_SYNC_TERMINATION_MESSAGE_PATH")
    )
    given, _ = early.parse_known_args(argv)
    log_format = given.log_format if given.log_format in ("text", "json") else "text" if sys.stderr.isatty() else "json"
    return log_format, given.termination_message_path
