"""The Grafana dashboard, k8s/monitoring/dashboard.json; docs/make.py writes it."""

from __future__ import annotations

from typing import Any, NamedTuple

Json = dict[str, Any]

_COLUMNS, _HEIGHT = 24, 8
_WIDTH = 8
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_JOB = 'job=~"$job"'


class Panel(NamedTuple):
    """One panel. query: PromQL; legend: of a series; kind and unit: those of Grafana."""

    title: str
    query: str
    legend: str = ""
    kind: str = "timeseries"
    unit: str = "short"
    help: str = ""


PANELS = (
    Panel(
        "Time since the last success",
        f"time() - max by (job) (takara_sync_last_success_timestamp_seconds{{{_JOB}}})",
        "{{job}}",
        "stat",
        "s",
        "Three periods without a success are an alert.",
    ),
    Panel(
        "Takaras by state",
        f"sum by (state) (takara_sync_takaras{{{_JOB}}})",
        "{{state}}",
        help="The state in the status of each Takara: a person has to act on a Stalled one.",
    ),
    Panel(
        "Takaras that are not unchanged",
        f'sum by (result) (takara_sync_last_pass_takaras{{{_JOB}, result!="unchanged"}}) > 0',
        "{{result}}",
        help="By the result of the last pass.",
    ),
    Panel(
        "Changes",
        f"sum by (kind) (increase(takara_sync_changes_total{{{_JOB}}}[$__rate_interval]))",
        "{{kind}}",
        help="Deployments created, updated and taken over, and statuses written.",
    ),
    Panel(
        "Drift by manager",
        f"sum by (manager) (increase(takara_sync_drift_total{{{_JOB}}}[$__rate_interval]))",
        "{{manager}}",
        help="Fields that takara-sync set back, by the manager that had changed them.",
    ),
    Panel(
        "Passes by result",
        f"sum by (result) (increase(takara_sync_passes_total{{{_JOB}}}[$__rate_interval]))",
        "{{result}}",
        help="By the name of the exit code.",
    ),
    Panel(
        "Duration of the last pass",
        f"max by (job) (takara_sync_last_pass_duration_seconds{{{_JOB}}})",
        "{{job}}",
        unit="s",
        help="A pass is cut short after --pass-timeout (50 s).",
    ),
    Panel(
        "Requests to the API server",
        f"sum by (verb, code) (rate(takara_sync_api_requests_total{{{_JOB}}}[$__rate_interval]))",
        "{{verb}} {{code}}",
        unit="reqps",
        help="By HTTP method and status code; none: no response.",
    ),
    Panel(
        "Takaras that are not Ready",
        'takara_status_condition{type="Ready"} == 0',
        "{{namespace}}/{{takara}} {{reason}}",
        "table",
        help="From kube-state-metrics with k8s/monitoring/kube-state-metrics.yaml.",
    ),
)


def dashboard() -> Json:
    """The dashboard in Grafana's JSON (schemaVersion 39, Grafana 10.4 or later)."""
    return {
        "uid": "takara-sync",
        "title": "takara-sync",
        "tags": ["takara-sync"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [_data_source(), _job()]},
        "panels": [_panel(number, panel) for number, panel in enumerate(PANELS)],
    }


def _data_source() -> Json:
    return {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}


def _job() -> Json:
    query = "label_values(takara_sync_build_info, job)"
    every = {"includeAll": True, "allValue": ".*", "multi": True, "current": {"text": "All", "value": "$__all"}}
    return {"name": "job", "label": "Job", "type": "query", "datasource": _SOURCE, "query": query, "refresh": 2} | every


def _panel(number: int, panel: Panel) -> Json:
    left = number * _WIDTH
    table = panel.kind == "table"
    target = {"refId": "A", "datasource": _SOURCE, "expr": panel.query, "legendFormat": panel.legend}
    return {
        "id": number + 1,
        "title": panel.title,
        "description": panel.help,
        "type": panel.kind,
        "datasource": _SOURCE,
        "gridPos": {"x": left % _COLUMNS, "y": left // _COLUMNS * _HEIGHT, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [target | ({"format": "table", "instant": True} if table else {})],
    }
