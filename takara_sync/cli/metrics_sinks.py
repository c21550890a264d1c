"""Where the metrics go: a file for node exporter, a Pushgateway, or an address that Prometheus scrapes.

A sink never changes a pass: what cannot be written or sent is one WARNING. Only an address that cannot be used is an
error, before the first pass. prometheus-client is imported only if there is a sink.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from takara_sync.cli.background import WAIT, Background, post
from takara_sync.cli.metrics import METRICS, Series, Values, added, at_start, info, read_takaras, samples
from takara_sync.kube.request_counts import RequestCounts
from takara_sync.objects import Key
from takara_sync.report import Exit, Report

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

log = logging.getLogger("takara_sync")

_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_GROUP = "/metrics/job/"  # of a Pushgateway; the rest of the path names the group


class Metrics:
    """The metrics of this process and their sinks. Without a sink it does nothing.

    requests: counts the requests; None without a sink.
    """

    def __init__(self, textfile: str | None = None, push_url: str | None = None, address: str | None = None) -> None:
        """Start to serve `address` (HOST:PORT), and continue the counters of `textfile`.

        Raises:
            ConfigurationError: the address cannot be used.
        """
        self.requests = RequestCounts() if textfile or push_url or address else None
        self._textfile, self._push_url = textfile, push_url and group_url(push_url)
        self._values = {**at_start(), **_read(textfile)} if textfile else at_start()
        self._background = Background("metrics", 1) if push_url else None
        self._pushed = threading.Event()
        self._takaras: list[Key] = []
        if address:
            from takara_sync.cli.metrics_server import serve  # noqa: PLC0415 - it imports prometheus-client

            serve(address, registry(lambda: families({**self._values, **info(self._takaras)})))

    def publish(self, report: Report, code: Exit) -> None:
        """Add a pass, write the file, and begin to push; does not wait."""
        if self.requests is None:
            return
        # The server's thread may read the values at this moment, so they are replaced and not changed.
        self._values = values = added(self._values, samples(report, code, self.requests.take()))
        if read_takaras(report):
            self._takaras = [outcome.key for outcome in report.takaras]
        shown = registry(lambda: families(values))
        if self._textfile:
            _write(self._textfile, shown)
        if self._background and self._push_url:
            from prometheus_client import generate_latest  # noqa: PLC0415 - see above

            url, body = self._push_url, generate_latest(shown)
            self._pushed = self._background.call(
                lambda: post("the metrics were", url, body, _CONTENT_TYPE, follow=False)
            )

    def wait(self, seconds: float) -> None:
        """Wait until the last push is over, at most so many seconds."""
        if self._background and not self._pushed.wait(max(seconds, 0.0)):
            log.warning("the Pushgateway did not answer within %g s; takara-sync continues", WAIT)


def registry(collect: Callable[[], Iterator[Metric]]) -> CollectorRegistry:
    """What prometheus-client writes and serves."""
    from prometheus_client import CollectorRegistry  # noqa: PLC0415 - see above

    class Collector:
        def collect(self) -> Iterator[Metric]:
            return collect()

    made = CollectorRegistry()
    made.register(Collector())
    return made


def families(values: Values) -> Iterator[Metric]:
    """The values in the form of prometheus-client, in the order of METRICS."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415 - see above

    found: dict[str, list[Series]] = defaultdict(list)
    for series in values:
        found[series.name].append(series)
    for name, metric in METRICS.items():
        if name in found:
            kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
            family = kind(name, metric.help, labels=metric.labels)
            for series in sorted(found[name]):
                family.add_metric(series.labels, values[series])
            yield family


def group_url(url: str) -> str:
    """Where to POST for the URL of a Pushgateway, or of a group of its metrics (URL/metrics/job/NAME...).

    A POST replaces the metrics of the same names only: https://github.com/prometheus/pushgateway#post-method
    So the time of the last success stays when a new process has none.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return parts._replace(path=path if _GROUP in path else f"{path}{_GROUP}takara-sync").geturl()


def _read(path: str) -> Values:
    """The values that an earlier process wrote, because a Job may live for one pass only."""
    from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415 - see above

    try:
        read = [each for family in text_string_to_metric_families(Path(path).read_text()) for each in family.samples]
        return {
            Series(each.name, tuple(each.labels[label] for label in METRICS[each.name].labels)): each.value
            for each in read
            if each.name in METRICS
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError) as error:
        log.warning("the metrics in %s could not be read, so they begin anew: %s", path, error)
        return {}


def _write(path: str, shown: CollectorRegistry) -> None:
    """Replace the file; node exporter never reads a half of it."""
    from prometheus_client import write_to_textfile  # noqa: PLC0415 - see above

    try:
        write_to_textfile(path, shown)
    except OSError as error:
        log.warning("the metrics could not be written to %s: %s", path, error.strerror)
