"""Retries in time: Retry-After, the deadline, a stop. How often each call is tried is in test_every_call."""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from takara_sync.deadline import Deadline
from takara_sync.errors import CutShort, Retryable
from takara_sync.kube.api import Api
from takara_sync.kube.response import Request
from tests.wire.answers import good, never, status
from tests.wire.server import FaultServer

if TYPE_CHECKING:
    from tests.wire.server import Wire

GET = Request("GET", "/x")


def test_retry_after_is_the_least_wait(api: Api, server: FaultServer) -> None:
    server.on("/x", status(503, Retry_After="1"), good(b"{}"))
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
