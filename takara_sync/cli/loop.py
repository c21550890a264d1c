"""One pass, passes until all is Ready, or one after the other until somebody says stop."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import timedelta

from msgspec import structs

from takara_sync.cli import termination
from takara_sync.cli.connect import api_of, cluster_of, policy_of
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.output import NotWritten
from takara_sync.cli.overrun import watch
from takara_sync.cli.render import report_lines, show
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.cli.wait import left_of, merged, unready
from takara_sync.cluster import Cluster, DryRun
from takara_sync.deadline import Deadline
from takara_sync.errors import ConfigurationError, CutShort, Unreadable
from takara_sync.objects import Key
from takara_sync.plan import Policy
from takara_sync.report import Exit, Outcome, Report, Result, summary
from takara_sync.sync import sync_once
from takara_sync.text import some

log = logging.getLogger("takara_sync")

LEAST_PAUSE = 0.1  # of the interval: what a pass that took longer than the interval leaves the server
WAIT_INTERVAL = 2.0  # seconds between the passes of --wait

NEEDS_MAX = 100  # Takaras that the last line of the log names; the report names all
_START_SECONDS = 5.0  # how long the process of the next Job may take to start: no due retry is left out for it

Pass = Callable[[Policy, Deadline, Key | None], Report]


def run_once(settings: Settings, stop: Stop) -> Exit:
    """One pass, or with --wait several, reported; its exit code.

    Raises:
        ConfigurationError: there are no usable credentials.
    """
    return _runner(settings, stop).once(settings.wait)


def run_loop(settings: Settings, stop: Stop) -> Exit:
    """Passes on the beat of --interval, each reported; the exit code of the last one.

    Raises:
        ConfigurationError: there are no usable credentials.
    """
    assert settings.interval is not None
    return _runner(settings, stop).loop(settings.interval, settings.duration)


def _runner(settings: Settings, stop: Stop) -> Runner:
    url = settings.heartbeat_url
    heartbeat = Heartbeat(url.get_secret_value() if url else None)
    try:
        return Runner(settings, stop, heartbeat, Passes(settings, stop).run)
    except (ConfigurationError, CutShort) as error:
        heartbeat.end(Exit(error.exit_code), str(error))
        raise


class Passes:
    """Passes over one cluster, through one connection for as long as it works."""

    def __init__(self, settings: Settings, stop: Stop) -> None:
        self._settings = settings
        self._stop = stop
        self._api = api_of(settings, stop)
        self._failed = False

    def run(self, policy: Policy, deadline: Deadline, start: Key | None) -> Report:
        """One pass. After one that could not read the cluster, the credentials and the address are read again."""
        if self._failed:
            self._connect_again()
        cluster: Cluster = cluster_of(self._settings, self._api)
        with _on_a_bar(DryRun(cluster) if self._settings.dry_run else cluster) as counted:
            report = sync_once(counted, policy, workers=self._settings.concurrency, seconds=deadline, start=start)
        self._failed = isinstance(report.error, Unreadable)
        return report

    def _connect_again(self) -> None:
        try:
            api = api_of(self._settings, self._stop, self._api.context)
        except (ConfigurationError, CutShort) as error:  # a kubeconfig may be half written, and be whole a pass later
            log.warning("the credentials could not be read again: %s", error)
        else:
            self._api.close()
            self._api = api


def _on_a_bar(cluster: Cluster) -> AbstractContextManager[Cluster]:
    """The cluster, with a progress bar on a terminal."""
    if not (sys.stderr.isatty() and sys.stdout.isatty()):
        return nullcontext(cluster)
    from takara_sync.cli.progress import Shown  # noqa: PLC0415 - only on a terminal

    return Shown(cluster)


class Runner:
    """Passes, and what is said of them. `clock` is monotonic, in seconds."""

    def __init__(
        self,
        settings: Settings,
        stop: Stop,
        heartbeat: Heartbeat,
        one_pass: Pass,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._policy = policy_of(settings)
        self._stop = stop
        self._heartbeat = heartbeat
        self._one_pass = one_pass
        self._clock = clock

    def once(self, wait: float | None = None) -> Exit:
        """One pass; with `wait`, passes for at most so many seconds until every Takara is Ready."""
        self._heartbeat.start()
        return self._report(self._run(self._policy) if wait is None else self._until_ready(wait))

    def _until_ready(self, seconds: float) -> Report:
        """Passes until every Takara is Ready, or the first one that leaves a Takara which needs a person.

        The report is that of all of them: what the first one changed is in it, and --max-changes counts all of them.
        """
        end = self._clock() + seconds
        report = self._run(self._policy, seconds)
        while (waiting := unready(report, self._settings.tolerate)) and report.error is None:
            if "Stalled" in waiting.values():
                break
            self._stop.wait(min(WAIT_INTERVAL, end - self._clock()))
            if self._stop.asked or self._clock() >= end:
                why = "Interrupted" if self._stop.asked else f"Not Ready within {seconds:g} s"
                return structs.replace(report, error=CutShort(f"{why}: {some(waiting)}", "See kubectl get takaras -A."))
            policy = replace(self._policy, max_changes=left_of(self._policy.max_changes, report))
            report = merged(report, self._run(policy, end - self._clock(), report.next_start))
        return report

    def loop(self, interval: float, duration: float | None = None) -> Exit:
        """Passes on a steady beat. They never overlap, and one that took too long is not caught up.

        With a duration, no pass is started that one as long as the last would carry past the end.
        """
        end = self._clock() + duration if duration is not None else float("inf")
        start, next_start = None, self._clock()
        since_last = interval + _START_SECONDS
        while True:
            begun = self._clock()
            self._heartbeat.start()
            report = self._run(replace(self._policy, interval=timedelta(seconds=since_last)), end - begun, start)
            code = self._report(report)
            start = report.next_start
            took = self._clock() - begun
            next_start = max(next_start + interval, begun + took + interval * LEAST_PAUSE)
            if self._stop.asked or next_start + took > end:
                return code
            self._stop.wait(next_start - self._clock())
            if self._stop.asked:
                return Exit.OK if duration is None else code
            since_last = self._clock() - begun

    def _run(self, policy: Policy, seconds: float = float("inf"), start: Key | None = None) -> Report:
        """One pass, which has to be over after `seconds` at the latest; one that hangs ends the process."""
        deadline = Deadline(min(self._settings.pass_timeout, max(seconds, 0.0)), self._clock)
        with watch(self._stop.watch(deadline)):
            return self._one_pass(policy, deadline, start)

    def _report(self, report: Report) -> Exit:
        settings, code = self._settings, exit_code(report, self._settings)
        lines = report_lines(report, every=settings.output == "wide", namespaces=settings.namespace)
        try:
            show(report.document(code, settings.namespace), settings.output, lines, report.error)
        except NotWritten as error:
            log.error("%s", error)  # noqa: TRY400 - an expected error has no use for a traceback
            code = code or Exit.FAILED
        termination.leave(report)
        self._heartbeat.end(code, log_summary(report, code, settings.namespace))
        return code


# ------------------------------------------------------------------ what is said of a pass


def exit_code(report: Report, settings: Settings) -> Exit:
    """The report's exit code, with what the settings tolerate, and with changes pending in a dry run."""
    code = report.exit
    needs = {outcome.needs_a_person for outcome in report.outcomes} - {""}
    if code == Exit.BLOCKED and needs <= set(settings.tolerate):
        code = Exit.OK
    if code in (Exit.OK, Exit.BLOCKED) and settings.dry_run and any(map(_is_pending, report.outcomes)):
        code = Exit.FAILED
    return code


def _is_pending(outcome: Outcome) -> bool:
    """Whether a dry run found something to do here that somebody would see."""
    return outcome.result in (Result.CREATED, Result.TAKEN_OVER) or bool(outcome.changes)


def log_summary(report: Report, code: Exit, namespaces: Sequence[str] = ()) -> str:
    """Write the last line of a pass: its counts, and the Takaras that need a person. Returns its text."""
    needs = [f"{each.key} ({each.reason})" for each in report.outcomes if each.needs_a_person or each.has_failed]
    parts = [summary(report)]
    if needs:
        parts.append(f"need attention: {some(needs)}")
    if report.error is not None:
        parts.append(str(report.error))
    if empty := report.empty_of(namespaces):
        parts.append(f"no Takaras in: {some(empty)}")
    text = "; ".join(parts)
    level = _LEVELS.get(report.exit if code != Exit.OK else code, logging.ERROR)
    extra = {"exit": int(code), "counts": {str(k): v for k, v in report.counts.items()}, "needs": needs[:NEEDS_MAX]}
    log.log(level, "pass done: %s", text, extra=extra | {"seconds": round(report.seconds, 3)})
    return text


_LEVELS = {Exit.OK: logging.INFO, Exit.BLOCKED: logging.WARNING}
