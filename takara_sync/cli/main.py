"""The process around the command: its signals and its standard streams.

Signals are handled before anything else of takara-sync is imported: Ctrl-C during an import prints no traceback.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command as this process and give its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from takara_sync.cli.output import prepare_streams  # noqa: PLC0415 - see above
    from takara_sync.cli.stop import Stop  # noqa: PLC0415 - see above

    prepare_streams()
    stop = Stop()
    stop.install()
    from takara_sync.cli.command import run  # noqa: PLC0415 - see above

    try:
        return run(sys.argv[1:] if argv is None else argv, stop)
    finally:
        stop.finish()  # the interpreter's end would reset the handlers, and a signal kill what is done
