"""One pass, or one after the other until somebody says stop."""

from __future__ import annotations

import logging
import os
import random
import sys
import time
from collections.abc import Callable

from takara_sync.cli.render import print_report
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.cluster import Cluster, Deadline, DryRun
from takara_sync.kube.api import Api
from takara_sync.kube.cluster import KubeCluster
from takara_sync.plan import Policy
from takara_sync.report import CHANGED, Exit, Outcome, Report, Result, summary
from takara_sync.sync import sync_once

log = logging.getLogger("takara_sync")

_LEAST_PAUSE = 0.1  # of the interval: what a pass that took longer than the interval leaves the server

_NAMED = 20  # Takaras that the last line names; the report and the JSON line name all

Pass = Callable[[Deadline, int], Report]


def run(settings: Settings, stop: Stop) -> Exit:
    """Passes as the settings say, each reported; the exit code of the last one.

    Raises:
        ConfigurationError: there are no usable credentials.
    """
    api = Api.connect(
        settings.kubeconfig,
        settings.context,
        connections=settings.concurrency,
        request_timeout=settings.request_timeout,
        user_agent="takara-sync",
    )
    one_pass = _pass(settings, api)
    if settings.interval is None:
        return _report(settings, _once(settings, one_pass, stop, random.randrange(2**31)))  # noqa: S311 - no secret
    return _loop(settings, one_pass, stop, settings.interval)


def _pass(settings: Settings, api: Api) -> Pass:
    policy = Policy(
        max_size=settings.max_size,
        max_changes=settings.max_changes,
        allow_templates=settings.allow_templates,
        legacy_managers=settings.legacy_manager,
        accept_newer_format=settings.accept_newer_format,
    )

    def one_pass(deadline: Deadline, offset: int) -> Report:
        cluster: Cluster = KubeCluster(
            api, namespaces=settings.namespace, selector=settings.selector or "", deadline=deadline
        )
        cluster = DryRun(cluster) if settings.dry_run else cluster
        return sync_once(cluster, policy, workers=settings.concurrency, offset=offset)

    return one_pass


def _once(settings: Settings, one_pass: Pass, stop: Stop, offset: int) -> Report:
    deadline = Deadline(settings.pass_timeout)
    stop.watch(deadline)
    return one_pass(deadline, offset)


def _loop(settings: Settings, one_pass: Pass, stop: Stop, interval: float) -> Exit:
    """Passes on a monotonic beat. They never overlap, and one that took too long is not caught up."""
    offset = 0
    while True:
        begun = time.monotonic()
        report = _once(settings, one_pass, stop, offset)
        code = _report(settings, report)
        if stop.asked:
            return code
        offset += sum(outcome.result != Result.NOT_REACHED for outcome in report.outcomes)
        left = begun + interval - time.monotonic()
        stop.wait(left if left > 0 else interval * _LEAST_PAUSE)
        if stop.asked:
            return Exit.OK


# ------------------------------------------------------------------ telling


def _report(settings: Settings, report: Report) -> Exit:
    code = exit_code(report, settings)
    try:
        print_report(report, settings.output)
    except BrokenPipeError:  # whoever read the report has had enough of it; that changes nothing of the pass
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    log_summary(report, code)
    return code


def exit_code(report: Report, settings: Settings) -> Exit:
    """The report's exit code, with what the settings tolerate, and with changes pending in a dry run."""
    code = report.exit
    if code == Exit.BLOCKED and {str(Result.BLOCKED), str(Result.INVALID)} & set(report.counts) <= set(
        settings.tolerate
    ):
        code = Exit.OK
    if code in (Exit.OK, Exit.BLOCKED) and settings.dry_run and CHANGED & set(report.counts):
        code = Exit.FAILED
    return code


def log_summary(report: Report, code: Exit) -> None:
    """The last line of a pass: what came of it, and every Takara that needs somebody."""
    needy = (Result.FAILED, Result.BLOCKED, Result.INVALID)
    needs = [_named(outcome) for outcome in report.outcomes if outcome.result in needy]
    text = summary(report)
    if needs:
        more = f" and {len(needs) - _NAMED} more" if len(needs) > _NAMED else ""
        text += f"; need attention: {', '.join(needs[:_NAMED])}{more}"
    if report.error is not None:
        text += f"; {report.error}"
    level = logging.INFO if code == Exit.OK else logging.WARNING if code == Exit.BLOCKED else logging.ERROR
    extra = {"exit": int(code), "counts": {str(k): v for k, v in report.counts.items()}, "needs": needs}
    log.log(level, "pass done: %s", text, extra=extra | {"seconds": round(report.seconds, 3)})


def _named(outcome: Outcome) -> str:
    return f"{outcome.key} ({outcome.reason})"
