"""What the command publishes about a pass: report, termination message, last line of the log, heartbeat."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from pathlib import Path

from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.render import NotWritten, report_lines, show, unmatched
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.report import Exit, Report, Result, summary
from takara_sync.text import one_line, some

log = logging.getLogger("takara_sync")

NEEDS_MAX = 100  # Takaras in the field `needs` of the log; the report has all of them
TERMINATION_LOG = Path("/dev/termination-log")  # the default of terminationMessagePath
_TERMINATION_BYTES_MAX = 4096  # the kubelet cuts off the rest
_LEVELS = {Exit.OK: logging.INFO, Exit.BLOCKED: logging.WARNING}  # of the last line of the log; else ERROR


def publish(report: Report, settings: Settings, heartbeat: Heartbeat, stop: Stop) -> Exit:
    """Publish a report, and return the exit code of the process. If nobody reads stdout any more, stop the process."""
    code = exit_code(report, settings)
    remarks = [] if report.error else unmatched(settings, {outcome.key.namespace for outcome in report.takaras})
    lines = report_lines(report, every=settings.output == "wide", remarks=remarks)
    try:
        document = report.document(
            code, () if settings.name else settings.namespace, brief=settings.output == "json-brief"
        )
        if not show(document, settings.output, lines, report.error):
            stop.ask("the end of the reader of stdout")
    except NotWritten as error:
        log.error("%s", error)  # noqa: TRY400 - an expected error needs no traceback
        code = code or Exit.FAILED
    write_termination_message(report)
    heartbeat.end(code, log_summary(report, code, remarks))
    return code


def exit_code(report: Report, settings: Settings) -> Exit:
    """The exit code of the report. --tolerate and --dry-run change it: a dry run fails if changes are pending."""
    code = report.exit
    needs = {outcome.needs_a_person for outcome in report.takaras} - {""}
    if code == Exit.BLOCKED and needs <= set(settings.tolerate):
        code = Exit.OK
    # An update that changes no value is not pending.
    pending = any(each.result in (Result.CREATED, Result.TAKEN_OVER) or each.changes for each in report.takaras)
    return Exit.FAILED if settings.dry_run and pending and code in (Exit.OK, Exit.BLOCKED) else code


def write_termination_message(report: Report) -> None:
    """Write what `kubectl describe pod` shows of a container that failed: failures first.

    https://kubernetes.io/docs/tasks/debug/debug-application/determine-reason-pod-failure/
    Otherwise the kubelet would take the end of the log; in a large cluster this is only the end of the report.
    """
    lines = [summary(report), *([one_line(str(report.error))] if report.error else [])]
    for result in (Result.FAILED, Result.BLOCKED, Result.INVALID):
        lines += [f"{each.key} {result}: {each.detail}" for each in report.takaras if each.result == result]
    text = "\n".join(lines).encode()[:_TERMINATION_BYTES_MAX].decode(errors="ignore")
    with contextlib.suppress(OSError), TERMINATION_LOG.open("r+") as file:  # outside of a pod it does not exist
        file.truncate()
        file.write(text)


def log_summary(report: Report, code: Exit, remarks: Sequence[str] = ()) -> str:
    """Log the counts of a pass, and the Takaras that failed or need a person. Returns the text."""
    needs = [
        f"{each.key} ({each.reason})" for each in report.takaras if each.needs_a_person or each.result == Result.FAILED
    ]
    parts = (
        summary(report),
        f"need attention: {some(needs)}" if needs else "",
        str(report.error or ""),
        *remarks,
    )
    text = "; ".join(filter(None, parts))
    level = _LEVELS.get(report.exit if code != Exit.OK else code, logging.ERROR)
    extra = {"exit": int(code), "counts": {str(k): v for k, v in report.counts.items()}, "needs": needs[:NEEDS_MAX]}
    log.log(level, "pass done: %s", text, extra=extra | {"seconds": round(report.seconds, 3), "reported": True})
    return text
