"""One pass, passes until all is Ready, or one after the other until somebody says stop."""

from __future__ import annotations

import logging
import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from msgspec import structs

from takara_sync.account import next_offset
from takara_sync.cli import termination
from takara_sync.cli.connect import api_of, cluster_of, policy_of
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.output import NotWritten, guarded
from takara_sync.cli.overrun import Watch
from takara_sync.cli.render import print_report
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.cluster import Cluster, Deadline, DryRun
from takara_sync.errors import ConfigurationError, CutShort
from takara_sync.kube.api import Api
from takara_sync.report import CHANGED, NEEDS_A_PERSON, Exit, Outcome, Report, Result, summary
from takara_sync.sync import sync_once

log = logging.getLogger("takara_sync")

LEAST_PAUSE = 0.1  # of the interval: what a pass that took longer than the interval leaves the server
WAIT_INTERVAL = 2.0  # seconds between the passes of --wait

_NAMED = 20  # Takaras that the last line names; the report and the JSON line name all

Pass = Callable[[Deadline, int], Report]


def run_once(settings: Settings, stop: Stop) -> Exit:
    """One pass, or with --wait several, reported; its exit code.

    Raises:
        ConfigurationError: there are no usable credentials.
    """
    runner = _runner(settings, stop)
    return runner.once() if settings.wait is None else runner.until_ready(settings.wait)


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
        return Runner(settings, stop, heartbeat, _pass(settings, api_of(settings, stop)))
    except (ConfigurationError, CutShort) as error:
        heartbeat.end(Exit(error.exit_code), str(error))
        raise


def _pass(settings: Settings, api: Api) -> Pass:
    policy = policy_of(settings)

    def one_pass(deadline: Deadline, offset: int) -> Report:
        cluster: Cluster = cluster_of(settings, api, deadline)
        cluster = DryRun(cluster) if settings.dry_run else cluster
        with _watched(cluster) as shown:
            return sync_once(shown, policy, workers=settings.concurrency, offset=offset)

    return one_pass


def _watched(cluster: Cluster) -> AbstractContextManager[Cluster]:
    """The cluster, with a bar for whoever sits at a terminal."""
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
        self._stop = stop
        self._heartbeat = heartbeat
        self._one_pass = one_pass
        self._clock = clock

    def once(self) -> Exit:
        self._heartbeat.start()
        return self._report(self._run(random.randrange(2**31)))  # noqa: S311 - spreads the start, keeps no secret

    def until_ready(self, seconds: float) -> Exit:
        """Passes until every Takara is Ready; early with the pass's code where one needs a person first.

        The report is that of all of them: what the first one changed is in it.
        """
        self._heartbeat.start()
        end = self._clock() + seconds
        report = self._run(0, seconds)
        while True:
            unready = _unready(report, self._settings.tolerate)
            if report.error is not None or not unready or "Stalled" in unready.values():
                return self._report(report)
            self._stop.wait(min(WAIT_INTERVAL, end - self._clock()))
            if self._stop.asked or self._clock() >= end:
                why = "Asked to end" if self._stop.asked else f"Not Ready within {seconds:g} s"
                late = CutShort(f"{why}: {_shortened(list(unready))}", "See kubectl get tk -A.")
                return self._report(structs.replace(report, error=late))
            report = merged(report, self._run(0, end - self._clock()))

    def loop(self, interval: float, duration: float | None = None) -> Exit:
        """Passes on a steady beat. They never overlap, and one that took too long is not caught up.

        With a duration, no pass is started that one as long as the last would carry past the end.
        """
        end = self._clock() + duration if duration is not None else float("inf")
        offset, next_start = 0, self._clock()
        while True:
            begun = self._clock()
            self._heartbeat.start()
            report = self._run(offset, end - begun)
            code = self._report(report)
            offset = next_offset(report, offset)
            took = self._clock() - begun
            next_start = max(next_start + interval, begun + took + interval * LEAST_PAUSE)
            if self._stop.asked or next_start + took > end:
                return code
            self._stop.wait(next_start - self._clock())
            if self._stop.asked:
                return Exit.OK if duration is None else code

    def _run(self, offset: int, seconds: float = float("inf")) -> Report:
        """One pass, which has to be over after `seconds` at the latest; one that hangs ends the process."""
        deadline = Deadline(min(self._settings.pass_timeout, max(seconds, 0.0)), self._clock)
        self._stop.watch(deadline)
        with Watch(deadline):
            return self._one_pass(deadline, offset)

    def _report(self, report: Report) -> Exit:
        code = exit_code(report, self._settings)
        try:
            with guarded():
                print_report(report, code, self._settings.output, namespaces=self._settings.namespace)
        except NotWritten as error:
            log.error("%s", error)  # noqa: TRY400 - an expected error has no use for a traceback
            code = code if code != Exit.OK else Exit.FAILED
        termination.leave(report)
        text = log_summary(report, code, self._settings.namespace)
        self._heartbeat.end(code, text)
        return code


# ------------------------------------------------------------------ telling


def exit_code(report: Report, settings: Settings) -> Exit:
    """The report's exit code, with what the settings tolerate, and with changes pending in a dry run."""
    code, results = report.exit, set(report.counts)
    needy = {str(result) for result in NEEDS_A_PERSON & results}
    if code == Exit.BLOCKED and needy <= set(settings.tolerate):
        code = Exit.OK
    if code in (Exit.OK, Exit.BLOCKED) and settings.dry_run and any(map(_pending, report.outcomes)):
        code = Exit.FAILED
    return code


def _pending(outcome: Outcome) -> bool:
    """Whether a dry run found something to do here that somebody would see."""
    return outcome.result in (Result.CREATED, Result.TAKEN_OVER) or bool(outcome.changes)


def log_summary(report: Report, code: Exit, namespaces: Sequence[str] = ()) -> str:
    """Write the last line of a pass: what came of it, and every Takara that needs somebody. Gives its text."""
    needs = [_named(each) for each in report.outcomes if each.result in NEEDS_A_PERSON | {Result.FAILED}]
    text = summary(report)
    if needs:
        text += f"; need attention: {_shortened(needs)}"
    if report.error is not None:
        text += f"; {report.error}"
    elif empty := report.empty_of(namespaces):
        text += f"; no Takaras in: {', '.join(empty)}"
    level = _LEVELS.get(report.exit if code != Exit.OK else code, logging.ERROR)
    extra = {"exit": int(code), "counts": {str(k): v for k, v in report.counts.items()}, "needs": needs}
    log.log(level, "pass done: %s", text, extra=extra | {"seconds": round(report.seconds, 3)})
    return text


_LEVELS = {Exit.OK: logging.INFO, Exit.BLOCKED: logging.WARNING}


def _named(outcome: Outcome) -> str:
    return f"{outcome.key} ({outcome.reason})"


def _shortened(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _unready(report: Report, tolerated: Sequence[str]) -> dict[str, str]:
    """The Takaras that are not Ready, with what they are instead; those that are going or tolerated are no matter."""
    gone = ("Deleting", "Vanished")
    waiting = [each for each in report.outcomes if each.ready != "Ready" and each.reason not in gone]
    return {
        str(each.key): "Stalled" if each.result == Result.BLOCKED else each.ready
        for each in waiting
        if str(each.result) not in tolerated
    }


def merged(first: Report, then: Report) -> Report:
    """One report of two passes: how things are now, and what either changed."""
    before = {outcome.key: outcome for outcome in first.outcomes}
    outcomes = (_together(before.get(outcome.key), outcome) for outcome in then.outcomes)
    return structs.replace(then, outcomes=tuple(outcomes), started=first.started, seconds=first.seconds + then.seconds)


def _together(before: Outcome | None, now: Outcome) -> Outcome:
    if before is None or before.result not in CHANGED or now.result != Result.UNCHANGED:
        return now
    return structs.replace(now, result=before.result, changes=before.changes, told=before.told or now.told)
