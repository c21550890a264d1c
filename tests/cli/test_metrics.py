"""What a pass adds to the metrics, and that no sink of them changes or delays a pass."""

from __future__ import annotations

import http.server
import json
import logging
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import requests

from takara_sync.cli import background, metrics_sinks
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.metrics import INFO, METRICS, Series, added, at_start, samples
from takara_sync.cli.metrics_sinks import Metrics, group_url
from takara_sync.cli.publish import publish
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.diff import Change
from takara_sync.errors import CutShort, TooManyChanges, Unreadable
from takara_sync.kube.api import Deadline, Request
from takara_sync.kube.request_counts import RequestCounts
from takara_sync.objects import Key
from takara_sync.pytest_plugin import TakaraCluster
from takara_sync.report import Exit, Outcome, Report, Result
from takara_sync.simulator import Store
from tests.cli.test_loop import STARTED, report
from tests.support.command import run
from tests.support.takaras import takara
from tests.support.transport import InProcess


def change(manager: str) -> Change:
    return Change("spec.replicas", 1, 2, manager)


def pass_of(*outcomes: Outcome, code: Exit = Exit.OK, requests: dict[tuple[str, str], int] | None = None) -> Any:
    """The samples as `name{value,value}`, without zeros."""
    found = samples(Report(outcomes, STARTED, 2.0), code, requests or {})
    return {f"{name}{{{','.join(labels)}}}": value for (name, labels), value in found.items() if value}


def outcome(name: str, result: Result, *managers: str, ready: str = "Ready", written: bool = False) -> Outcome:
    return Outcome(Key("ns", name), result, changes=tuple(map(change, managers)), ready=ready, status_written=written)


# ------------------------------------------------------------------ samples


def test_the_samples_of_a_pass() -> None:
    found = pass_of(
        outcome("a", Result.UPDATED, "kubectl-edit", "kubectl", "", "my-tool", written=True),
        outcome("b", Result.CREATED, ready="Progressing", written=True),
        outcome("c", Result.FAILED, "kubectl", ready=""),
        requests={("GET", "200"): 3},
    )
    ended = STARTED.timestamp() + 2
    version = next(name for name in found if "build_info" in name)
    assert re.fullmatch(r"takara_sync_build_info\{[\d.]+\}", version)
    del found[version]
    assert found == {
        "takara_sync_last_pass_timestamp_seconds{}": ended,
        "takara_sync_last_pass_duration_seconds{}": 2,
        "takara_sync_last_success_timestamp_seconds{}": ended,
        "takara_sync_passes_total{ok}": 1,
        "takara_sync_changes_total{updated}": 1,
        "takara_sync_changes_total{created}": 1,
        "takara_sync_changes_total{status}": 2,
        "takara_sync_drift_total{kubectl}": 2,  # not of the Takara that failed: nothing was set back
        "takara_sync_drift_total{other}": 1,
        "takara_sync_api_requests_total{GET,200}": 3,
        "takara_sync_takaras{Ready}": 1,
        "takara_sync_takaras{Progressing}": 1,
        "takara_sync_takaras{Unknown}": 1,
        "takara_sync_last_pass_takaras{updated}": 1,
        "takara_sync_last_pass_takaras{created}": 1,
        "takara_sync_last_pass_takaras{failed}": 1,
    }


@pytest.mark.parametrize("code", [code for code in Exit if code != Exit.OK])
def test_only_exit_code_0_is_a_success(code: Exit) -> None:
    found = pass_of(code=code)
    assert "takara_sync_last_success_timestamp_seconds{}" not in found
    assert found[f"takara_sync_passes_total{{{code.name.lower()}}}"] == 1


GAUGES_OF_TAKARAS = {"takara_sync_takaras", "takara_sync_last_pass_takaras"}


@pytest.mark.parametrize(
    ("done", "known"),
    [
        (report(), True),  # there is no Takara
        (report(Result.NOT_REACHED, error=CutShort("late")), True),
        (report(Result.NOT_REACHED, error=TooManyChanges("9")), True),
        (report(error=Unreadable("no server")), False),
        (report(error=CutShort("SIGTERM")), False),
    ],
)
def test_a_pass_that_read_no_takaras_says_nothing_about_them(done: Report, *, known: bool) -> None:
    names = {series.name for series in samples(done, done.exit, {})}
    assert (names >= GAUGES_OF_TAKARAS, not names & GAUGES_OF_TAKARAS) == (known, not known)


def test_the_number_of_series_has_a_limit() -> None:
    """Whatever names managers have, and for every result, state and exit code."""
    values = at_start()
    for number in range(300):
        each = list(Result)[number % len(Result)]
        some = outcome("a", each, f"manager-{number}", f"kubectl-{number}", "Helm", written=True)
        values = added(values, samples(Report((some,), STARTED, 1.0), list(Exit)[number % len(Exit)], {}))
    names = {series for series in values if series.name == "takara_sync_drift_total"}
    assert {series.labels[0] for series in names} >= {"kubectl", "helm", "other"}
    assert len(values) < 60


def test_every_series_has_its_labels_and_counters_start_at_0() -> None:
    values = added(at_start(), samples(report(*Result), Exit.FAILED, {("GET", "200"): 3}))
    assert {series.name for series in values} == set(METRICS) - {"takara_sync_last_success_timestamp_seconds", INFO}
    assert all(len(series.labels) == len(METRICS[series.name].labels) for series in values)
    for code in set(Exit) - {Exit.USAGE}:
        assert values[Series("takara_sync_passes_total", (code.name.lower(),))] == (code == Exit.FAILED)


def test_counters_grow_and_gauges_are_replaced() -> None:
    first = samples(Report((outcome("a", Result.CREATED),), STARTED, 1.0), Exit.OK, {("GET", "200"): 3})
    second = samples(Report((outcome("b", Result.CREATED),), STARTED, 4.0), Exit.FAILED, {("GET", "200"): 4})
    values = added(added(at_start(), first), second)
    assert values[Series("takara_sync_changes_total", ("created",))] == 2
    assert values[Series("takara_sync_api_requests_total", ("GET", "200"))] == 7
    assert values[Series("takara_sync_last_pass_duration_seconds")] == 4
    assert values[Series("takara_sync_last_success_timestamp_seconds")] == STARTED.timestamp() + 1


# ------------------------------------------------------------------ requests


def test_each_try_of_a_request_is_counted_by_method_and_code() -> None:
    counts = RequestCounts()
    transport = counts.around(InProcess(Store().handle))
    transport.prepare(Deadline())
    for path in ("/apis/apps/v1/deployments", "/apis/apps/v1/deployments", "/nothing"):
        transport.send(Request("GET", path), 1.0)
    lost = counts.around(InProcess(Store().handle, around=mock.Mock(side_effect=ConnectionResetError)))
    with pytest.raises(ConnectionResetError):
        lost.send(Request("PATCH", "/x", body={}), 1.0)
    transport.close()
    assert counts.take() == {("GET", "200"): 2, ("GET", "404"): 1, ("PATCH", "none"): 1}
    assert counts.take() == {}


# ------------------------------------------------------------------ the file


def shown(path: Path) -> dict[str, float]:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_the_file_goes_on_from_process_to_process(takara_cluster: TakaraCluster, tmp_path: Path) -> None:
    """A Job may live for one pass: the time of the last success, and the counters, are those of all of them."""
    path = tmp_path / "takara-sync.prom"
    options = ("once", f"--metrics-textfile={path}")
    connected = (*options, f"--kubeconfig={takara_cluster.kubeconfig}")
    takara_cluster.create(takara("one", 2))
    for code in (0, 0):
        assert run(*connected).code == code
    first = shown(path)
    assert first['takara_sync_passes_total{result="ok"}'] == 2
    assert first['takara_sync_changes_total{kind="created"}'] == 1
    # Three lists a pass, the apply and a status; that the pods are not Ready yet is no second status.
    assert first['takara_sync_api_requests_total{code="200",verb="GET"}'] == 6
    away = tmp_path / "away"
    away.write_text(takara_cluster.kubeconfig.read_text().replace(takara_cluster.url, "http://127.0.0.1:1"))

    assert run(*options, f"--kubeconfig={away}", "--pass-timeout=2", "--request-timeout=1").code == 3

    second = shown(path)
    assert second['takara_sync_passes_total{result="unreadable"}'] == 1
    assert second['takara_sync_api_requests_total{code="none",verb="GET"}'] >= 1
    for name in ("takara_sync_last_success_timestamp_seconds", 'takara_sync_last_pass_takaras{result="unchanged"}'):
        assert second[name] == first[name]
    assert second["takara_sync_last_pass_timestamp_seconds"] > first["takara_sync_last_pass_timestamp_seconds"]
    assert not [name for name in second if name.startswith("takara_info")]
    assert not list(tmp_path.glob("takara-sync.prom?*"))


@pytest.mark.parametrize("text", ["{", "takara_sync_passes_total 1\n", 'takara_sync_passes_total{result="ok"} x\n'])
def test_a_file_that_cannot_be_read_is_one_warning_and_begins_anew(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "metrics.prom"
    path.write_text(text)
    Metrics(textfile=str(path)).publish(report(), Exit.OK)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert shown(path)['takara_sync_passes_total{result="ok"}'] == 1


def test_a_file_that_cannot_be_written_is_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Metrics(textfile=str(tmp_path / "no" / "such" / "folder.prom")).publish(report(), Exit.OK)
    (line,) = caplog.records
    assert (line.levelname, "folder.prom" in line.getMessage()) == ("WARNING", True)


# ------------------------------------------------------------------ the Pushgateway

SECRET = "s3cr3t"  # noqa: S105 - of a test


class Gateway(http.server.BaseHTTPRequestHandler):
    """Keeps what it gets, and answers with the status of the server."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, self.headers["Content-Type"], body.decode()))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.send_header("Content-Length", "0")
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def gateway() -> Iterator[Any]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway) as server:
        server.got, server.status = [], 200  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def url_of(gateway: Any) -> str:
    return f"http://user:{SECRET}@127.0.0.1:{gateway.server_port}"


def test_each_pass_is_pushed_to_the_group(gateway: Any) -> None:
    metrics = Metrics(push_url=url_of(gateway))
    for code in (Exit.OK, Exit.FAILED):
        metrics.publish(report(Result.UNCHANGED), code)
        metrics.wait(60)
    (path, kind, _), (_, _, body) = gateway.got
    assert (path, kind) == ("/metrics/job/takara-sync", "text/plain; version=0.0.4; charset=utf-8")
    assert 'takara_sync_passes_total{result="ok"} 1.0' in body
    assert "takara_info" not in body


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("http://a:1", "http://a:1/metrics/job/takara-sync"),
        ("http://a:1/", "http://a:1/metrics/job/takara-sync"),
        ("http://a/push/", "http://a/push/metrics/job/takara-sync"),
        ("http://a/metrics/job/x/cluster/east/", "http://a/metrics/job/x/cluster/east"),
        ("http://u:p@a/?k=v", "http://u:p@a/metrics/job/takara-sync?k=v"),
    ],
)
def test_the_url_may_name_the_group(given: str, made: str) -> None:
    assert group_url(given) == made


@pytest.mark.parametrize("status", [302, 307, 400, 404, 503])
def test_a_gateway_that_refuses_is_one_warning_and_no_exit_code(
    gateway: Any, takara_cluster: TakaraCluster, status: int
) -> None:
    gateway.status = status
    with mock.patch.object(metrics_sinks.Metrics, "wait", lambda self, _: self._pushed.wait(60)):
        done = run("once", f"--kubeconfig={takara_cluster.kubeconfig}", f"--metrics-push-url={url_of(gateway)}")
    assert done.code == 0
    (line,) = [line for line in done.stderr.splitlines() if "metrics" in line]
    assert json.loads(line)["message"] == f"the metrics were not delivered: status {status}"
    assert SECRET not in done.stderr
    assert len(gateway.got) == 1


def test_a_gateway_that_is_away_or_a_url_that_is_wrong_shows_no_secret(
    gateway: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    gateway.server_close()
    for url in (url_of(gateway), f"http://[{SECRET}", f"http://{'a' * 70}.{SECRET}/"):
        background.post("the metrics were", url, b"", "text/plain", follow=False)
    assert [record.levelname for record in caplog.records if record.name == "takara_sync"] == ["WARNING"] * 3
    assert SECRET not in "".join(record.getMessage() for record in caplog.records if record.name == "takara_sync")


def test_whatever_hangs_delays_a_pass_by_a_second_in_total(monkeypatch: pytest.MonkeyPatch) -> None:
    """The heartbeat and the push are sent at the same time, and share the second."""
    hangs, waited, now = threading.Event(), list[float](), [100.0]

    def wait(self: threading.Event, timeout: float | None = None) -> bool:
        if self is hangs or timeout is None:
            return real(self, timeout)
        waited.append(timeout)
        now[0] += timeout
        return False

    real = threading.Event.wait
    monkeypatch.setattr(background, "post", lambda *_, **__: hangs.wait())
    for module in ("heartbeat", "metrics_sinks"):
        monkeypatch.setattr(f"takara_sync.cli.{module}.post", lambda *_, **__: hangs.wait())
    metrics, beat = Metrics(push_url="http://a.invalid"), Heartbeat("http://b.invalid")
    with mock.patch("threading.Event.wait", wait), mock.patch("time.monotonic", side_effect=lambda: now[0]):
        for _ in range(3):
            publish(report(), Settings(output="json"), beat, metrics, Stop())
    hangs.set()
    assert sum(waited[:2]) <= background.WAIT == 1
    assert sum(waited) <= 3


# ------------------------------------------------------------------ the address


def served(log: pytest.LogCaptureFixture) -> str:
    (line,) = [record.getMessage() for record in log.records if "served at" in record.getMessage()]
    return line.rpartition(" ")[2]


@pytest.mark.parametrize("address", ["127.0.0.1:0", "localhost:0"])
def test_the_address_serves_what_the_last_pass_left(address: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "takara_sync")
    metrics = Metrics(address=address)
    url = served(caplog)
    assert 'takara_sync_passes_total{result="ok"} 0.0' in requests.get(url, timeout=10).text
    metrics.publish(Report((outcome("a", Result.UNCHANGED),), STARTED, 1.0), Exit.OK)
    found = requests.get(url, timeout=10)
    assert 'takara_sync_passes_total{result="ok"} 1.0' in found.text
    assert 'takara_info{namespace="ns",takara="a"} 1.0' in found.text
    assert found.headers["Content-Type"].startswith("text/plain; version=")
    metrics.publish(report(error=Unreadable("no server")), Exit.UNREADABLE)
    assert 'takara_info{namespace="ns",takara="a"} 1.0' in requests.get(url, timeout=10).text
    metrics.publish(report(), Exit.OK)
    assert "takara_info{" not in requests.get(url, timeout=10).text


def test_a_client_that_goes_away_leaves_no_trace_on_stderr(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO, "takara_sync")
    Metrics(address="127.0.0.1:0")
    url = served(caplog)
    port = int(url.split(":")[2].split("/")[0])
    for sent in (b"", b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nHost: "):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(sent)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # close with a reset
    assert requests.get(url, timeout=10).ok
    assert capfd.readouterr() == ("", "")


def test_an_address_that_cannot_be_used_is_a_configuration_error(takara_cluster: TakaraCluster) -> None:
    options = ("--interval=10", f"--kubeconfig={takara_cluster.kubeconfig}")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for address in (f":{port}", f"127.0.0.1:{port}"):
            done = run(*options, f"--metrics-address={address}")
            assert done.code == 2
            assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in done.stderr
    for address in ("192.0.2.1:9090", "no-such-host.invalid:9090", f"{'a' * 70}.invalid:1"):
        done = run(*options, f"--metrics-address={address}")
        assert (done.code, "cannot listen on" in done.stderr) == (2, True)


@pytest.mark.parametrize("option", ["--metrics-textfile=x", "--metrics-push-url=http://x.invalid"])
def test_a_dry_run_has_no_metrics(option: str) -> None:
    done = run("once", "--dry-run", option)
    assert (done.code, "metrics cannot be used with dry-run" in done.stderr) == (2, True)


def test_the_address_is_for_the_loop() -> None:
    done = run("once", "--metrics-address=9090")
    assert (done.code, "not used by once" in done.stderr) == (2, True)


@pytest.mark.parametrize("address", ["70000", "a b:1", "http://a:1", "[::1:9090", "::1:9090", "a:", ":x", "-1"])
def test_an_address_that_is_none(address: str) -> None:
    done = run("--interval=10", f"--metrics-address={address}")
    assert (done.code, "expected an address" in done.stderr) == (2, True)
