"""One pass, passes until every Takara is Ready, or a pass per interval until SIGTERM."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from msgspec import structs
from pydantic import HttpUrl, Secret

from takara_sync.cli import termination
from takara_sync.cli.connect import api_of, cluster_of, policy_of
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.last_pass import LastPass
from takara_sync.cli.metrics_sinks import Metrics
from takara_sync.cli.overrun import watch
from takara_sync.cli.publish import publish
from takara_sync.cli.screen import screen
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.cli.wait import left_of, merged, unready, waiting_for
from takara_sync.cluster import DryRun
from takara_sync.deadline import Deadline
from takara_sync.errors import ConfigurationError, CutShort, Unreadable
from takara_sync.kube.request_counts import RequestCounts
from takara_sync.objects import Key
from takara_sync.plan import Policy
from takara_sync.report import Exit, Report
from takara_sync.sync import sync_once
from takara_sync.text import some

log = logging.getLogger("takara_sync")

LEAST_PAUSE = 0.1  # of the interval: the least time between two passes, so that the server can do other work
WAIT_INTERVAL = 2.0  # seconds between the passes of --wait
_LOOK = "See kubectl get takaras -A."
_START_SECONDS = 5.0  # how long the process of the next Job may take to start

Pass = Callable[[Policy, Deadline, Key | None], Report]


def run_once(settings: Settings, stop: Stop) -> Exit:
    """Run and report one pass, or several with --wait. Returns the exit code.

    Raises:
        ConfigurationError: there are no usable credentials.
    """
    with _runner(settings, stop, address=None) as runner:
        return runner.once(settings.wait)


def run_loop(settings: Settings, stop: Stop) -> Exit:
    """Run and report a pass per --interval. Returns the exit code of the last one.

    Raises:
        ConfigurationError: there are no usable credentials, or --metrics-address cannot be used.
    """
    assert settings.interval is not None
    with _runner(settings, stop, settings.metrics_address) as runner:
        return runner.loop(settings.interval, settings.duration)


@contextmanager
def _runner(settings: Settings, stop: Stop, address: str | None) -> Iterator[Runner]:
    metrics = Metrics(settings.metrics_textfile, _revealed(settings.metrics_push_url), address)
    heartbeat = Heartbeat(_revealed(settings.heartbeat_url))
    passes = Passes(settings, stop, metrics.requests)
    where = None if settings.dry_run else settings.last_pass
    with LastPass(where, lambda: passes.api, settings.interval) as last_pass:
        yield Runner(settings, stop, heartbeat, passes.run, metrics=metrics, last_pass=last_pass)


def _revealed(url: Secret[HttpUrl] | None) -> str | None:
    return str(url.get_secret_value()) if url else None


class Passes:
    """Passes over one cluster. The connection is kept until a pass cannot read the cluster."""

    def __init__(self, settings: Settings, stop: Stop, requests: RequestCounts | None = None) -> None:
        self._settings = settings
        self._stop = stop
        self._requests = requests
        self.api = api_of(settings, stop, counts=requests)
        self._failed = False

    def run(self, policy: Policy, deadline: Deadline, start: Key | None) -> Report:
        """One pass. If the last one could not read the cluster, read the credentials and the address again first."""
        if self._failed:
            self._connect_again()
        found = cluster_of(self._settings, self.api)
        cluster = DryRun(found) if self._settings.dry_run else found
        workers, progress = self._settings.concurrency, screen().progress
        report = sync_once(cluster, policy, workers=workers, seconds=deadline, start=start, progress=progress)
        screen().finish()
        self._failed = isinstance(report.error, Unreadable)
        return report

    def _connect_again(self) -> None:
        try:
            api = api_of(self._settings, self._stop, self.api.context, self._requests)
        except (ConfigurationError, CutShort) as error:  # perhaps somebody is writing the kubeconfig at this moment
            log.warning("the credentials could not be read again: %s", error)
        else:
            self.api.close()
            self.api = api


@dataclass(frozen=True)
class Runner:
    """Runs passes and publishes their reports. clock: monotonic, in seconds."""

    settings: Settings
    stop: Stop
    heartbeat: Heartbeat
    one_pass: Pass
    clock: Callable[[], float] = time.monotonic
    metrics: Metrics = field(default_factory=Metrics)
    last_pass: LastPass = field(default_factory=LastPass)

    def once(self, wait: float | None = None) -> Exit:
        """One pass. wait: run passes for at most so many seconds until every Takara is Ready."""
        self.heartbeat.start()
        report = self._run(policy_of(self.settings)) if wait is None else self._until_ready(wait)
        return self._publish(report)

    def _until_ready(self, seconds: float) -> Report:
        """Run passes until every Takara is Ready, or until a person has to act on one of them.

        The report contains the changes of all passes, and --max-changes counts all of them.
        """
        end, policy = self.clock() + seconds, policy_of(self.settings)
        report = self._run(policy, seconds)
        while (waiting := unready(report, self.settings.tolerate)) and report.error is None:
            if stalled := [key for key, state in waiting.items() if state == "Stalled"]:
                why = f"A person has to act on {some(stalled)}"
                return report if report.exit else structs.replace(report, error=CutShort(why, _LOOK))
            screen().show(waiting_for(report, waiting, end - self.clock()))
            self.stop.wait(min(WAIT_INTERVAL, end - self.clock()))
            if self.stop.asked or self.clock() >= end:
                why = f"Stopped by {self.stop.name}" if self.stop.asked else f"Waited for {seconds:g} s"
                return structs.replace(report, error=CutShort(f"{why}; not Ready yet: {some(waiting)}", _LOOK))
            left = replace(policy, max_changes=left_of(policy.max_changes, report))
            report = merged(report, self._run(left, end - self.clock(), report.next_start))
        return report

    def loop(self, interval: float, duration: float | None = None) -> Exit:
        """Start a pass every `interval` seconds. Passes never overlap. A start that a long pass missed is left out.

        duration: start no pass that would end later than this, if it takes as long as the last one.
        """
        next_start = self.clock()
        end = next_start + duration if duration is not None else float("inf")
        start, since_last = None, interval + _START_SECONDS
        while True:
            begun = self.clock()
            self.heartbeat.start()
            policy = replace(policy_of(self.settings), interval=timedelta(seconds=since_last))
            report = self._run(policy, end - begun, start)
            code, start = self._publish(report), report.next_start
            took = self.clock() - begun
            next_start = max(next_start + interval, begun + took + interval * LEAST_PAUSE)
            if self.stop.asked or next_start + took > end:
                return code
            self.last_pass.write_if_due(next_start - self.clock())
            self.stop.wait(next_start - self.clock())
            if self.stop.asked:
                return code if duration is not None else self._stopped(report)
            since_last = self.clock() - begun

    def _stopped(self, report: Report) -> Exit:
        """Success, whatever the last pass was; the termination message says so too."""
        path = self.settings.termination_message_path
        termination.write(path, termination.message(Exit.OK, report=report))
        return Exit.OK

    def _run(self, policy: Policy, seconds: float = float("inf"), start: Key | None = None) -> Report:
        """One pass of at most so many seconds. If it does not end, the process does."""
        deadline = Deadline(min(self.settings.pass_timeout, max(seconds, 0.0)), self.clock)
        path = self.settings.termination_message_path
        with watch(self.stop.watch(deadline), path, last_words=self.last_pass.hangs):
            return self.one_pass(policy, deadline, start)

    def _publish(self, report: Report) -> Exit:
        code = publish(report, self.settings, self.heartbeat, self.metrics, self.stop)
        self.last_pass.ended(report, code)
        return code
