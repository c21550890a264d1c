"""What the metrics are, and what a pass adds to them. Pure.

Names and units follow https://prometheus.io/docs/practices/naming/. Every label has a limited number of values, except
for `takara_info`, which has one series per Takara, as the Go operator served it.

The duration is a gauge and no histogram: a Job may live for one pass only, and a histogram of one observation that the
next process starts again says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Literal, NamedTuple

from takara_sync import __version__
from takara_sync.managed_fields import LEGACY_MANAGERS
from takara_sync.objects import Key
from takara_sync.report import CHANGED, Exit, Outcome, Report, Result


class Metric(NamedTuple):
    """A metric. labels: their names, in the order of the values in a Series."""

    kind: Literal["counter", "gauge"]
    help: str
    labels: tuple[str, ...] = ()


class Series(NamedTuple):
    """A metric with the values of its labels."""

    name: str
    labels: tuple[str, ...] = ()


Values = Mapping[Series, float]

INFO = "takara_info"
METRICS = {
    "takara_sync_build_info": Metric("gauge", "The version of takara-sync; always 1.", ("version",)),
    "takara_sync_last_pass_timestamp_seconds": Metric("gauge", "When the last pass ended, in Unix time."),
    "takara_sync_last_pass_duration_seconds": Metric("gauge", "How long the last pass took."),
    "takara_sync_last_success_timestamp_seconds": Metric(
        "gauge", "When the last pass with exit code 0 ended, in Unix time."
    ),
    "takara_sync_last_pass_takaras": Metric("gauge", "The Takaras by their result in the last pass.", ("result",)),
    "takara_sync_takaras": Metric("gauge", "The Takaras by the state in their status.", ("state",)),
    "takara_sync_passes_total": Metric("counter", "The passes by the name of their exit code.", ("result",)),
    "takara_sync_changes_total": Metric(
        "counter", "The Deployments that were created, updated or taken over, and the statuses written.", ("kind",)
    ),
    "takara_sync_drift_total": Metric(
        "counter", "The fields that were set back, by the manager that had changed them.", ("manager",)
    ),
    "takara_sync_api_requests_total": Metric(
        "counter", "The requests to the API server by HTTP method and status code.", ("verb", "code")
    ),
    INFO: Metric("gauge", "The Takaras of the last pass; always 1.", ("namespace", "takara")),
}

UNKNOWN = "Unknown"  # the pass did not get as far as the status
STATES = ("Ready", "Progressing", "Stalled", UNKNOWN)
STATUS = "status"  # a kind of change, beside the results in CHANGED
OTHER = "other"
MANAGERS = (
    "kubectl",  # kubectl-edit, kubectl-patch ... too
    "kube-controller-manager",  # a HorizontalPodAutoscaler
    "argocd-controller",
    "argocd-application-controller",
    "kustomize-controller",
    "helm-controller",
    "helm",
    "terraform",
    *LEGACY_MANAGERS,
)
"""The values of the label `manager`, beside `other`: anybody may give a manager any name."""


def at_start() -> Values:
    """The counters at 0: a series that appears with its first event would hide this event from `increase()`."""
    values = {
        "takara_sync_passes_total": [code.name.lower() for code in Exit if code != Exit.USAGE],
        "takara_sync_changes_total": [*sorted(CHANGED), STATUS],
        "takara_sync_drift_total": [*dict.fromkeys(MANAGERS), OTHER],
    }
    return {Series(name, (value,)): 0.0 for name, each in values.items() for value in each}


def samples(report: Report, code: Exit, requests: Mapping[tuple[str, str], int]) -> dict[Series, float]:
    """What a pass adds to the counters, and the gauges that it knows.

    A pass that did not read the Takaras says nothing about them. code: the exit code of the pass. requests: those of
    this pass, by method and status code.
    """
    ended = (report.started + timedelta(seconds=report.seconds)).timestamp()
    found = {
        Series("takara_sync_build_info", (__version__,)): 1.0,
        Series("takara_sync_last_pass_timestamp_seconds"): ended,
        Series("takara_sync_last_pass_duration_seconds"): report.seconds,
        Series("takara_sync_passes_total", (code.name.lower(),)): 1.0,
    }
    if code == Exit.OK:
        found[Series("takara_sync_last_success_timestamp_seconds")] = ended
    found |= {Series("takara_sync_api_requests_total", labels): float(count) for labels, count in requests.items()}
    found |= _counted("takara_sync_changes_total", _kinds(report.takaras))
    found |= _counted("takara_sync_drift_total", _managers(report.takaras))
    if read_takaras(report):
        states = Counter(outcome.ready or UNKNOWN for outcome in report.takaras)
        found |= {Series("takara_sync_takaras", (state,)): float(states[state]) for state in STATES}
        counts = report.counts
        found |= {Series("takara_sync_last_pass_takaras", (result,)): float(counts[result]) for result in Result}
    return found


def read_takaras(report: Report) -> bool:
    """Whether the pass got as far as the Takaras, of which there may be none."""
    return bool(report.takaras) or report.error is None


def info(keys: Iterable[Key]) -> Values:
    """One series for each of these Takaras."""
    return {Series(INFO, key): 1.0 for key in keys}


def added(values: Values, more: Values) -> Values:
    """The values after a pass: counters grow, and the series of a gauge replace all that it had."""
    replaced = {series.name for series in more if METRICS[series.name].kind == "gauge"}
    new = {series: value for series, value in values.items() if series.name not in replaced}
    for series, value in more.items():
        new[series] = new.get(series, 0.0) + value
    return new


def _counted(name: str, values: Iterable[str]) -> dict[Series, float]:
    return {Series(name, (value,)): float(count) for value, count in Counter(values).items()}


def _kinds(outcomes: Iterable[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        if outcome.result in CHANGED:
            yield outcome.result
        if outcome.status_written:
            yield STATUS


def _managers(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """The manager of each field that was set back."""
    for outcome in outcomes:
        if outcome.result in CHANGED:
            yield from (_known(change.manager) for change in outcome.changes if change.manager)


def _known(manager: str) -> str:
    name = "kubectl" if manager.startswith("kubectl-") else manager.lower()
    return name if name in MANAGERS else OTHER
