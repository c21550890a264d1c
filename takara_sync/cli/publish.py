"""What the command publishes about a pass: report, termination message, last line of the log, metrics, heartbeat."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from takara_sync.cli import termination
from takara_sync.cli.background import WAIT
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.metrics_sinks import Metrics
from takara_sync.cli.render import NotWritten, report_lines, show, unmatched
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.cli.wait import unready
from takara_sync.report import Exit, Report, Result, summary
from takara_sync.text import some

log = logging.getLogger("takara_sync")

NEEDS_MAX = 100  # Takaras in the field `needs` of the log; the report has all of them
_LEVELS = {Exit.OK: logging.INFO, Exit.BLOCKED: logging.WARNING}  # of the last line of the log; else ERROR


def publish(report: Report, settings: Settings, heartbeat: Heartbeat, metrics: Metrics, stop: Stop) -> Exit:
    """Publish a report, and return the exit code of the process. Waits at most WAIT seconds for others.

    If nobody reads stdout any more, stop the process.
    """
    code, unwritten = exit_code(report, settings), ""
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
        code, unwritten = code or Exit.FAILED, str(error)
    message = termination.message(code, unwritten, report)
    termination.write(settings.termination_message_path, message)
    text, waits_until = log_summary(report, code, remarks), time.monotonic() + WAIT
    metrics.publish(report, code)
    heartbeat.end(code, text)
    metrics.wait(waits_until - time.monotonic())
    return code


def exit_code(report: Report, settings: Settings) -> Exit:
    """The exit code of the report. --tolerate, --fail-on and --dry-run change it.

    A dry run fails if changes are pending.
    """
    code = report.exit
    needs = {outcome.needs_a_person for outcome in report.takaras} - {""}
    if code == Exit.BLOCKED and needs <= set(settings.tolerate):
        code = Exit.OK
    # An update that changes no value is not pending.
    pending = any(each.result in (Result.CREATED, Result.TAKEN_OVER) or each.changes for each in report.takaras)
    if settings.dry_run and pending and code in (Exit.OK, Exit.BLOCKED):
        return Exit.FAILED
    fails = code == Exit.OK and settings.fail_on and unready(report, settings.tolerate)
    return Exit.CUT_SHORT if fails else code


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
    if code == Exit.CUT_SHORT and report.exit == Exit.OK:  # --fail-on
        level = logging.WARNING
    extra = {"exit": int(code), "counts": {str(k): v for k, v in report.counts.items()}, "needs": needs[:NEEDS_MAX]}
    log.log(level, "pass done: %s", text, extra=extra | {"seconds": round(report.seconds, 3), "reported": True})
    return text
