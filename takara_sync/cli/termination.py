"""The termination message of our container: what `kubectl describe pod` shows of a pass that failed.

https://kubernetes.io/docs/tasks/debug/debug-application/determine-reason-pod-failure/
The kubelet would else take the end of the log, and in a large cluster that is the end of the report.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from takara_sync.report import Report, Result, summary
from takara_sync.text import one_line

PATH = Path("/dev/termination-log")  # the default of terminationMessagePath
_BYTES_MAX = 4096  # more is cut by the kubelet


def leave(report: Report) -> None:
    """Write what the last pass came to, failures first; nothing where there is no such file, as outside of a pod."""
    if not PATH.is_file() and not PATH.is_char_device():
        return
    lines = [summary(report)]
    if report.error is not None:
        lines.append(one_line(str(report.error)))
    for result in (Result.FAILED, Result.BLOCKED, Result.INVALID):
        lines += [f"{each.key} {result}: {each.detail}" for each in report.outcomes if each.result == result]
    text = "\n".join(lines).encode()[:_BYTES_MAX].decode(errors="ignore")
    with contextlib.suppress(OSError):  # a read-only or full one costs the message, never the pass
        PATH.write_text(text)
