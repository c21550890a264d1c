"""Errors become a line on stderr and an exit code, also those of before the settings are known."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from takara_sync.cli import logs
from takara_sync.errors import TakaraSyncError
from takara_sync.reasons import one_line

log = logging.getLogger("takara_sync")

_MESSAGE_MAX = 900  # characters; what comes behind says what to do next


def told(argv: Sequence[str], command: Callable[[str], int]) -> int:
    """The exit code of `command`, or of the error that it ended with, which is told."""
    log_format = _early_log_format(argv)
    logs.set_up(log_format, "info")
    prog = "kubectl takara" if Path(sys.argv[0]).name == "kubectl-takara" else "takara-sync"
    try:
        return command(prog)
    except TakaraSyncError as error:
        said = str(TakaraSyncError(one_line(error.message)[:_MESSAGE_MAX], error.hint))
        if log_format == "json":
            log.error("%s", said)  # noqa: TRY400 - an expected error has no use for a traceback
        else:
            sys.stderr.write(f"{prog}: error: {said}\n")
        return error.exit_code
    except Exception:
        log.critical("takara-sync failed by a bug of its own", exc_info=True)
        return TakaraSyncError.exit_code


def _early_log_format(argv: Sequence[str]) -> str:
    """The log format before the settings are read, for what goes wrong until then."""
    said = [after for flag, after in pairwise(argv) if flag == "--log-format"]
    said += [arg.partition("=")[2] for arg in argv if arg.startswith("--log-format=")]
    said += [os.environ.get("TAKARA_SYNC_LOG_FORMAT", "")]
    default = "text" if sys.stderr.isatty() else "json"
    return next((each for each in said if each in ("text", "json")), default)
