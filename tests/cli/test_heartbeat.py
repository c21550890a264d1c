"""The dead-man's switch: what is called when, and that nothing of it changes or delays a pass."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import responses

from takara_sync.cli import background, heartbeat, loop
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.errors import CutShort, TooManyChanges, Unreadable
from takara_sync.report import Exit, Report, Result
from tests.cli.test_loop import report

URL = "https://hc.example.org/s3cr3t-uuid"
WAIT = background.WAIT


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, what a test sends has been sent when its pass is over."""
    monkeypatch.setattr(heartbeat, "WAIT", 60.0)


def run(*results: Report, url: str = URL) -> Exit:
    """A loop whose passes end like this; its exit code."""
    stop, left = Stop(), list(results)

    def one_pass(*_: object) -> Report:
        if len(left) == 1:
            stop.ask("SIGTERM")
        return left.pop(0)

    return loop.Runner(Settings(output="json"), stop, Heartbeat(url), one_pass).loop(0.01)


@pytest.fixture
def mocked() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        for suffix in ("", "/start", "/fail"):
            mock.post(URL + suffix)
        yield mock


def called(mocked: responses.RequestsMock) -> list[str]:
    return [str(call.request.url).removeprefix(URL) for call in mocked.calls]


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
def test_start_and_end_of_each_pass_call_their_url(
    mocked: responses.RequestsMock, result: Report, suffix: str, code: Exit
) -> None:
    assert run(report(Result.CREATED), result) == code
    assert called(mocked) == ["/start", "", "/start", suffix]
    assert b"Takara" in (mocked.calls[-1].request.body or b"")


def test_a_query_stays_behind_the_path(mocked: responses.RequestsMock) -> None:
    mocked.post(f"{URL}/start?key=1")
    run(report(Result.UNCHANGED), url=f"{URL}?key=1")
    assert called(mocked)[0] == "/start?key=1"


@pytest.mark.parametrize(
    "trouble",
    [
        {"status": 503},
        {"status": 404},
        {"body": requests.ConnectionError(f"cannot reach {URL}")},
        {"body": requests.Timeout(f"{URL} timed out")},
        {"body": requests.exceptions.InvalidURL(URL)},
    ],
    ids=["503", "404", "unreachable", "timeout", "wrong URL"],
)
def test_its_failure_changes_no_exit_code_and_shows_no_url(
    mocked: responses.RequestsMock, caplog: pytest.LogCaptureFixture, trouble: dict[str, Any]
) -> None:
    caplog.set_level(logging.DEBUG)
    for suffix in ("", "/start"):
        mocked.replace(responses.Response("POST", URL + suffix, **trouble))

    assert run(report(Result.UNCHANGED)) == Exit.OK

    lines = [record.getMessage() for record in caplog.records if "heartbeat" in record.getMessage()]
    assert len(lines) == 2
    assert "s3cr3t" not in caplog.text


def test_an_address_that_hangs_delays_a_pass_by_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """That each pass ends at all shows that nothing else is waited for."""
    hangs, answer, answered = threading.Event(), threading.Event(), threading.Semaphore(0)

    def hang(*_: object) -> None:
        hangs.set()
        answer.wait()
        answered.release()

    monkeypatch.setattr(heartbeat, "_post", hang)
    monkeypatch.setattr(heartbeat, "WAIT", 0.01)
    beat = Heartbeat(URL)
    beat.start()
    assert hangs.wait(60)
    for _ in range(5):
        beat.end(Exit.OK, "done")
        beat.start()
    assert beat._background is not None
    # What hangs for a day takes no memory, and nothing old is sent afterwards.
    assert beat._background._calls.qsize() == 2
    assert WAIT == 1
    assert caplog.text.count("not answered within") == 1  # the later ones were not even queued
    answer.set()
    assert all(answered.acquire(timeout=60) for _ in range(3))  # nothing is left to be sent in another test


def test_without_a_url_nothing_is_sent() -> None:
    beat = Heartbeat(None)
    with responses.RequestsMock():
        beat.start()
        beat.end(Exit.OK, "done")
