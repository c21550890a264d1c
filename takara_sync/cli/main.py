"""The command: one place where errors become text and exit codes."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from takara_sync.cli.stop import Stop
from takara_sync.errors import TakaraSyncError

if TYPE_CHECKING:
    from takara_sync.cli.settings import Settings

log = logging.getLogger("takara_sync")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    stop = Stop()
    stop.install()
    from takara_sync.cli.options import load, parser  # noqa: PLC0415 - pydantic is heavy; a library user has no need of it

    prog = "kubectl takara" if Path(sys.argv[0]).name == "kubectl-takara" else "takara-sync"
    try:
        command, settings = load(sys.argv[1:] if argv is None else argv, prog=prog)
        if not command:
            parser(prog).print_help()
            return 2
        return _run(command, settings, stop)
    except TakaraSyncError as error:
        sys.stderr.write(f"{prog}: error: {error}\n")
        return error.exit_code
    except Exception:
        log.critical("takara-sync failed by a bug of its own", exc_info=True)
        return TakaraSyncError.exit_code


def _run(command: str, settings: Settings, stop: Stop) -> int:
    from takara_sync.cli import logs, loop  # noqa: PLC0415 - only for a command that goes to the cluster

    terminal = sys.stderr.isatty()
    level = settings.log_level or ("warning" if command == "once" and terminal else "info")
    logs.set_up(settings.log_format or ("text" if terminal else "json"), level)
    return int(loop.run(settings, stop))
