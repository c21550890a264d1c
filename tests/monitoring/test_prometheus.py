"""A real Prometheus scrapes the loop, a Pushgateway and node exporter; its alerts fire and resolve."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests
import yaml

from takara_sync.pytest_plugin import TakaraCluster
from takara_sync.simulator import Answer, Refusal, Request, Simulator, Store
from tests.control_plane.waiting import wait_until
from tests.monitoring.conftest import Tools, check_metrics, free_port
from tests.support.takaras import takara
from tests.tool import COMMAND

MONITORING = Path(__file__).parents[2] / "k8s" / "monitoring"
RULES = MONITORING / "rules.yaml"
JOBS = {"loop", "node", "takara-sync"}  # the last one is the group in the Pushgateway
SECONDS = 60.0

Start = Callable[..., "subprocess.Popen[bytes]"]


class Server(Store):
    """A simulated API server that can be away for a while."""

    away = False

    def handle(self, request: Request) -> Answer:
        return Refusal(503, "ServiceUnavailable", "away").answer if self.away else super().handle(request)


class Prometheus(NamedTuple):
    """A Prometheus that scrapes all three sinks of a takara-sync."""

    url: str
    sinks: list[str]
    textfile: Path

    def query(self, text: str) -> list[dict[str, Any]]:
        found = requests.get(f"{self.url}/api/v1/query", {"query": text}, timeout=10).json()
        assert found["status"] == "success", f"{text}: {found}"
        results: list[dict[str, Any]] = found["data"]["result"]
        return results

    def of_each_job(self) -> dict[str, dict[str, str]]:
        """The series of takara-sync with their values, by job."""
        jobs: dict[str, dict[str, str]] = {}
        for each in self.query('{__name__=~"takara_sync_.*"}'):
            labels = {name: value for name, value in each["metric"].items() if name not in ("job", "instance")}
            jobs.setdefault(each["metric"]["job"], {})[json.dumps(labels, sort_keys=True)] = each["value"][1]
        return jobs

    def firing(self, alert: str) -> set[str]:
        """The jobs for which this alert fires."""
        alerts = requests.get(f"{self.url}/api/v1/alerts", timeout=10).json()["data"]["alerts"]
        return {each["labels"]["job"] for each in alerts if each["labels"]["alertname"] == alert}


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def cluster(server: Server, tmp_path: Path) -> Iterator[TakaraCluster]:
    with Simulator(server) as simulator:
        yield TakaraCluster(simulator, tmp_path / "kubeconfig")


@pytest.fixture
def prometheus(tools: Tools, started: Start, tmp_path: Path) -> Prometheus:
    """With the shipped rules, in which three periods are 3 seconds."""
    loop, node, gateway, port = (f"127.0.0.1:{free_port()}" for _ in range(4))
    folder = tmp_path / "textfiles"
    folder.mkdir()
    started(tools["pushgateway"], f"--web.listen-address={gateway}")
    only = ("--collector.disable-defaults", "--collector.textfile", f"--collector.textfile.directory={folder}")
    started(tools["node-exporter"], f"--web.listen-address={node}", *only)
    targets = {"loop": loop, "node": node, "gateway": gateway}
    config = {
        "global": {"scrape_interval": "200ms", "scrape_timeout": "200ms", "evaluation_interval": "200ms"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": [
            {"job_name": job, "honor_labels": job == "gateway", "static_configs": [{"targets": [target]}]}
            for job, target in targets.items()
        ],
    }
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    (tmp_path / "rules.yaml").write_text(RULES.read_text().replace("> 180", "> 3"))
    started(
        tools["prometheus"],
        "--config.file=prometheus.yml",
        f"--web.listen-address={port}",
        f"--storage.tsdb.path={tmp_path / 'tsdb'}",
    )
    sinks = [f"--metrics-address={loop}", f"--metrics-push-url=http://{gateway}"]
    textfile = folder / "takara-sync.prom"
    sinks.append(f"--metrics-textfile={textfile}")
    for url in (f"http://{gateway}/-/ready", f"http://{node}/metrics", f"http://{port}/-/ready"):
        wait_until(lambda url=url: answers(url), within=SECONDS)  # type: ignore[misc]
    return Prometheus(f"http://{port}", sinks, textfile)


def answers(url: str) -> str:
    try:
        return "" if requests.get(url, timeout=10).ok else f"{url} is not ready"
    except requests.ConnectionError:
        return f"{url} is away"


def test_every_way_delivers_the_same_numbers(
    tools: Tools, started: Start, prometheus: Prometheus, cluster: TakaraCluster
) -> None:
    cluster.create(takara("one", 2))
    cluster.create(takara("too-large", 2000))
    started(COMMAND, "--interval=1h", f"--kubeconfig={cluster.kubeconfig}", *prometheus.sinks)

    def differ() -> str:
        jobs = prometheus.of_each_job()
        pushed = {job: {k: v for k, v in found.items() if "push_" not in k} for job, found in jobs.items()}
        same = set(pushed) == JOBS and all(found == pushed["loop"] for found in pushed.values())
        done = any("takara_sync_last_pass_timestamp_seconds" in name for name in pushed.get("loop", {}))
        return "" if same and done else json.dumps(pushed)

    wait_until(differ, within=SECONDS)
    for query, value in (
        ('takara_sync_passes_total{job="node", result="blocked"}', "1"),
        ('takara_sync_changes_total{job="takara-sync", kind="created"}', "1"),
        ('sum(takara_sync_takaras{job="loop"})', "2"),
        ('count(takara_info{job="loop", namespace="default"})', "2"),
    ):
        assert [each["value"][1] for each in prometheus.query(query)] == [value], query
    for text in (prometheus.textfile.read_text(), requests.get(f"http://{address(prometheus)}", timeout=10).text):
        check_metrics(tools, text)


def address(prometheus: Prometheus) -> str:
    return f"{prometheus.sinks[0].partition('=')[2]}/metrics"


def test_the_alert_fires_after_three_periods_without_a_success_and_resolves(
    started: Start, prometheus: Prometheus, cluster: TakaraCluster, server: Server
) -> None:
    """And every query of the dashboard finds something then."""
    cluster.create(takara("one", 2))
    options = ("--interval=0.2", "--pass-timeout=1", "--request-timeout=0.5", "--output=json")
    loop = started(COMMAND, *options, f"--kubeconfig={cluster.kubeconfig}", *prometheus.sinks)

    def fires(expected: set[str]) -> None:
        def otherwise() -> str:
            found = prometheus.firing("TakaraSyncNoSuccess")
            return "" if found == expected else f"it fires for {found}"

        wait_until(otherwise, within=SECONDS)

    wait_until(lambda: "" if set(prometheus.of_each_job()) == JOBS else "not scraped yet", within=SECONDS)
    fires(set())
    server.away = True
    fires(JOBS)
    server.away = False
    fires(set())
    panels = json.loads((MONITORING / "dashboard.json").read_text())["panels"]
    for written in (target["expr"] for panel in panels for target in panel["targets"]):
        query = written.replace("$job", ".*").replace("$__rate_interval", "10s")
        from_kube_state_metrics, only_trouble = "takara_status" in query, '!="unchanged"' in query
        assert prometheus.query(query) or from_kube_state_metrics or only_trouble, query
    loop.send_signal(signal.SIGTERM)
    assert loop.wait(SECONDS) == 0


# ------------------------------------------------------------------ rules


def test_each_rule_fires_when_it_should(tools: Tools, tmp_path: Path) -> None:
    """And has a test: promtool would not miss one."""
    tests = Path(__file__).with_name("rules.test.yaml")
    for path in (RULES, tests):
        (tmp_path / path.name).write_text(path.read_text())
    for command in (("check", "rules", RULES.name), ("test", "rules", tests.name)):
        done = subprocess.run([tools["promtool"], *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    tested = {
        case["alertname"] for test in yaml.safe_load(tests.read_text())["tests"] for case in test["alert_rule_test"]
    }
    assert tested == alerts()


def alerts() -> set[str]:
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    return {rule["alert"] for rule in group["rules"]}
