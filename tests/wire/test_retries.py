"""Retries: how often, how long, each with a warning; and connections that break in every place."""

from __future__ import annotations

import logging
import socket
import time
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from takara_sync.deadline import Deadline
from takara_sync.errors import CutShort, ObjectError, Retryable, TakaraSyncError
from takara_sync.kube import transport as transport_module
from takara_sync.kube.api import Api
from takara_sync.kube.response import Request
from tests.wire.answers import endless, good, never, redirect, status, zipped
from tests.wire.broken import BROKEN
from tests.wire.command import kubeconfig
from tests.wire.server import FaultServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.wire.answers import Answer
    from tests.wire.server import Wire

GET = Request("GET", "/x")
PATCH = Request("PATCH", "/x", body={"a": "b"})
CUT = {name: fault.answer for name, fault in BROKEN.items() if fault.ends == "failed" and fault.breaks}
CUT |= {"no gzip at all": good(b"hello", Content_Encoding="gzip")}


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING)
    return caplog


@pytest.mark.parametrize("name", CUT)
def test_an_answer_that_breaks_off_is_asked_for_again(
    api: Api, server: FaultServer, warned: pytest.LogCaptureFixture, name: str
) -> None:
    server.on("/x", CUT[name], good(b'"whole"'))
    assert api.send(GET, Deadline(20)) == b'"whole"'
    assert len(server.requests) == 2
    assert len([record for record in warned.records if record.name == "takara_sync"]) == 1


def test_four_tries_and_a_warning_for_each_retry(
    api: Api, server: FaultServer, warned: pytest.LogCaptureFixture
) -> None:
    server.on("/x", status(503, message="not now"))
    with pytest.raises(Retryable, match="503: not now"):
        api.send(GET, Deadline(20))
    assert len(server.requests) == 4
    assert [record.levelname for record in warned.records] == ["WARNING"] * 3
    assert [f"try {n} follows" in record.message for n, record in enumerate(warned.records, 2)] == [True] * 3


def test_nobody_listens(hasty: None, tmp_path: Path, warned: pytest.LogCaptureFixture) -> None:  # noqa: ARG001
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unheard.getsockname()[1]}"
        with pytest.raises(Retryable, match="connection refused"):
            Api.connect(str(kubeconfig(tmp_path, url))).send(GET, Deadline(20))
    assert len(warned.records) == 3


# ------------------------------------------------------------------ Retry-After and the deadline


@pytest.mark.parametrize("code", [429, 503])
def test_retry_after_is_the_least_wait(api: Api, server: FaultServer, code: int) -> None:
    server.on("/x", status(code, Retry_After="1"), good(b"{}"))
    begun = time.monotonic()
    api.send(GET, Deadline(20))
    assert time.monotonic() - begun >= 1
    assert len(server.requests) == 2


@pytest.mark.parametrize("value", ["3600", "9" * 40, "in an hour"])
def test_a_wait_beyond_the_deadline_is_not_begun(api: Api, server: FaultServer, value: str) -> None:
    date = formatdate(time.time() + 3600, usegmt=True)
    server.on("/x", status(429, Retry_After=date if value == "in an hour" else value))
    with pytest.raises(Retryable, match="429"):
        api.send(GET, Deadline(20))
    assert len(server.requests) == 1


def test_the_deadline_cuts_a_request_in_hand(api: Api, server: FaultServer) -> None:
    server.on("/x", never())
    with pytest.raises(CutShort, match=r"deadline of 0\.2 s"):
        api.send(GET, Deadline(0.2))
    assert len(server.requests) == 1


def test_a_deadline_that_is_over_sends_nothing(api: Api, server: FaultServer) -> None:
    with pytest.raises(CutShort):
        api.send(GET, Deadline(0))
    assert server.requests == []


def test_a_stop_ends_the_wait_for_a_retry(api: Api, server: FaultServer) -> None:
    deadline = Deadline(50)

    def stop_and_refuse(wire: Wire) -> None:
        deadline.stop("SIGTERM")
        status(503, Retry_After="30")(wire)

    server.on("/x", stop_and_refuse)
    with pytest.raises((CutShort, Retryable)):
        api.send(GET, deadline)
    assert len(server.requests) == 1


def test_a_stop_lets_the_request_in_hand_finish(api: Api, server: FaultServer) -> None:
    deadline = Deadline(50)

    def stop_and_answer(wire: Wire) -> None:
        deadline.stop("SIGTERM")
        good(b'"done"')(wire)

    server.on("/x", stop_and_answer)
    assert api.send(GET, deadline) == b'"done"'
    with pytest.raises(CutShort, match="SIGTERM"):
        api.send(GET, deadline)


# ------------------------------------------------------------------ too much, and elsewhere


@pytest.mark.parametrize("answer", [endless, zipped("x" * 2**22)], ids=["endless", "bomb"])
def test_a_body_that_is_too_large_is_not_read_to_its_end(
    api: Api, server: FaultServer, monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    monkeypatch.setattr(transport_module, "PAGE_BYTES_MAX", 2**20)
    server.on("/x", answer)
    with pytest.raises(ObjectError, match="more than 1 MiB"):
        api.send(GET, Deadline(20))
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("request_", [GET, PATCH], ids=["GET", "PATCH"])
def test_a_redirect_is_not_followed(api: Api, server: FaultServer, code: int, request_: Request) -> None:
    with FaultServer() as elsewhere:
        server.on("/x", redirect(f"{elsewhere.url}/x", code))
        with pytest.raises(TakaraSyncError, match="redirect is not followed"):
            api.send(request_, Deadline(20))
        assert elsewhere.requests == []
    assert len(server.requests) == 1


def test_gzip_is_asked_for_and_undone(api: Api, server: FaultServer) -> None:
    server.on("/x", zipped({"kind": "Big"}))
    assert api.send(GET, Deadline(20)) == b'{"kind": "Big"}'
    assert server.requests[0].headers["accept-encoding"] == "gzip"
