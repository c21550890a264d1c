"""Run a command, and write its wall time, CPU time and peak memory to a file: `launch.py FILE COMMAND ...`.

A small process of its own: Linux counts the memory of a parent at the fork in the peak of its child.
"""

import json
import os
import sys
import time


def main() -> int:
    """Give the exit code of the command."""
    file, *command = sys.argv[1:]
    began, clock = time.time(), time.monotonic()
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status, used = os.wait4(pid, 0)
    measured = {
        "began": began,  # seconds since 1970, as in the audit log
        "wall_s": time.monotonic() - clock,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_mib": used.ru_maxrss / 1024,
    }
    with open(file, "w") as out:  # noqa: PTH123 - pathlib would be another import in every start
        json.dump(measured, out)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
