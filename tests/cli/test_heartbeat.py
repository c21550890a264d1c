"""The dead-man's switch: what is called when, and that nothing of it changes a pass."""

from __future__ import annotations

import http.server
import logging
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest
import requests
import responses
from pydantic import SecretStr

from takara_sync.cli import heartbeat, loop
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.errors import ConfigurationError, CutShort, TooManyChanges, Unreadable
from takara_sync.report import Exit, Report, Result
from tests.cli.test_loop import report

if TYPE_CHECKING:
    from collections.abc import Iterator

URL = "https://hc.example.org/s3cr3t-uuid"


def run(result: Report, url: str = URL, *, dry_run: bool = False) -> Exit:
    """`once` with a pass that ends like this."""
    settings = Settings(output="json", dry_run=dry_run)
    return loop.Runner(settings, Stop(), Heartbeat(url), lambda *_: result).once()


@pytest.fixture
def mocked() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        for suffix in ("", "/start", "/fail"):
            mock.post(URL + suffix)
        yield mock


PATHS: list[tuple[Report, str, Exit]] = [
    (report(Result.UNCHANGED), "", Exit.OK),
    (report(Result.CREATED, Result.SKIPPED), "", Exit.OK),
    (report(Result.FAILED), "/fail", Exit.FAILED),
    (report(Result.BLOCKED), "/fail", Exit.BLOCKED),
    (report(error=Unreadable("no server")), "/fail", Exit.UNREADABLE),
    (report(Result.NOT_REACHED, error=CutShort("late")), "/fail", Exit.CUT_SHORT),
    (report(error=TooManyChanges("9")), "/fail", Exit.TOO_MANY_CHANGES),
    (report(Result.FAILED, bug=True), "/fail", Exit.BUG),
]


@pytest.mark.parametrize(("result", "suffix", "code"), PATHS, ids=[code.name for *_, code in PATHS])
def test_each_end_calls_its_url(mocked: responses.RequestsMock, result: Report, suffix: str, code: Exit) -> None:
    assert run(result) == code
    assert [call.request.url for call in mocked.calls] == [f"{URL}/start", f"{URL}{suffix}"]
    assert b"Takara" in (mocked.calls[-1].request.body or b"")


def test_a_loop_says_start_and_end_of_each_pass(mocked: responses.RequestsMock) -> None:
    results = iter([report(Result.CREATED), report(error=Unreadable("no")), report(Result.UNCHANGED)])
    stop = Stop()

    def one_pass(*_: object) -> Report:
        result = next(results)
        if result.error is None and result.counts[Result.UNCHANGED]:
            stop.ask("SIGTERM")
        return result

    loop.Runner(Settings(output="json"), stop, Heartbeat(URL), one_pass).loop(0.01)

    called = [str(call.request.url).removeprefix(URL) for call in mocked.calls]
    assert called == ["/start", "", "/start", "/fail", "/start", ""]


def test_a_query_stays_behind_the_path(mocked: responses.RequestsMock) -> None:
    mocked.post(f"{URL}/start?key=1")
    run(report(Result.UNCHANGED), f"{URL}?key=1")
    assert mocked.calls[0].request.url == f"{URL}/start?key=1"


def test_a_503_is_tried_again(mocked: responses.RequestsMock, caplog: pytest.LogCaptureFixture) -> None:
    mocked.replace("POST", f"{URL}/start", status=503)
    mocked.post(f"{URL}/start", status=200)
    assert run(report(Result.UNCHANGED)) == Exit.OK
    assert len(mocked.calls) == 3
    assert "503" not in caplog.text


def _raises(error: Exception) -> dict[str, object]:
    return {"body": error}


@pytest.mark.parametrize(
    "trouble",
    [
        {"status": 503},
        {"status": 404},
        {"status": 302, "headers": {"Location": "https://elsewhere.example.org/"}},
        _raises(requests.ConnectionError(f"cannot reach {URL}")),
        _raises(requests.Timeout(f"{URL} timed out")),
        _raises(requests.exceptions.InvalidURL(URL)),
    ],
    ids=["503", "404", "redirect", "unreachable", "timeout", "wrong URL"],
)
def test_its_failure_changes_no_exit_code_and_shows_no_url(
    mocked: responses.RequestsMock, caplog: pytest.LogCaptureFixture, trouble: dict[str, object]
) -> None:
    caplog.set_level(logging.DEBUG)
    for suffix in ("", "/start"):
        mocked.replace(responses.Response("POST", URL + suffix, **trouble))  # type: ignore[arg-type]

    assert run(report(Result.UNCHANGED)) == Exit.OK

    lines = [record.getMessage() for record in caplog.records if "heartbeat" in record.getMessage()]
    assert len(lines) == 2
    assert "s3cr3t" not in caplog.text
    assert not [call for call in mocked.calls if "elsewhere" in str(call.request.url)]


def test_one_that_never_answers_delays_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        beat = Heartbeat(f"http://127.0.0.1:{silent.getsockname()[1]}/x")
        before = time.monotonic()
        beat.start()
        assert time.monotonic() - before < 0.1  # it was only put down to be said
        beat.end(Exit.OK, "done")


class _Recorder(http.server.BaseHTTPRequestHandler):
    seen: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        self.seen.append((self.path, self.rfile.read(int(self.headers["Content-Length"] or 0))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_on_a_real_wire() -> None:
    handler = type("Handler", (_Recorder,), {"seen": []})
    with http.server.HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        run(report(Result.FAILED), f"http://127.0.0.1:{server.server_port}/ping")
        server.shutdown()
    assert [path for path, _ in handler.seen] == ["/ping/start", "/ping/fail"]  # type: ignore[attr-defined]
    assert b"1 failed" in handler.seen[1][1]  # type: ignore[attr-defined]


def test_without_a_url_nothing_is_sent() -> None:
    beat = Heartbeat(None)
    with responses.RequestsMock():
        beat.start()
        beat.end(Exit.OK, "done")


def test_an_error_that_stops_before_the_pass_is_told_too(mocked: responses.RequestsMock) -> None:
    settings = Settings(kubeconfig="/nowhere/kubeconfig", heartbeat_url=SecretStr(URL))
    with pytest.raises(ConfigurationError, match="no kubeconfig"):
        loop.run_once(settings, Stop())
    assert [call.request.url for call in mocked.calls] == [f"{URL}/fail"]
