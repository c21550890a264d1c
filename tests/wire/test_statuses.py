"""Every HTTP status becomes one of our errors, after the right number of tries."""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takara_sync.deadline import Deadline
from takara_sync.errors import (
    ApiNotServed,
    Conflict,
    InternalError,
    NotFound,
    Rejected,
    Retryable,
    TakaraSyncError,
    Unauthorized,
)
from takara_sync.kube.response import APPLY, JSON_PATCH, Expired, Request, retry_after
from tests.wire.answers import good, html, status

if TYPE_CHECKING:
    from takara_sync.kube.api import Api
    from tests.wire.answers import Answer
    from tests.wire.server import FaultServer

GET = Request("GET", "/x")
PATCH = Request("PATCH", "/x", body=[], content_type=JSON_PATCH)
AN_APPLY = Request("PATCH", "/x", body={}, content_type=APPLY)

REFUSED = (300, 301, 302, 303, 304, 305, 307, 308, 400, 402, 403, 405, 406, 411, 412, 413, 414, 415, 418, 422, 423, 431)
AGAIN = (408, 429, 500, 502, 503, 504, 505, 507, 511, 599)
TABLE: list[tuple[int, type[TakaraSyncError], int]] = [
    *((code, Rejected, 1) for code in (*REFUSED, 501)),
    *((code, Retryable, 4) for code in AGAIN),
    (401, Unauthorized, 1),
    (404, ApiNotServed, 1),
    (409, Conflict, 1),
    (410, Expired, 1),
]


@pytest.mark.parametrize(("code", "error", "tries"), TABLE)
def test_a_status_and_what_it_means(
    api: Api, server: FaultServer, code: int, error: type[TakaraSyncError], tries: int
) -> None:
    server.on("/x", good(b"", code))
    with pytest.raises(TakaraSyncError) as raised:
        api.send(GET, Deadline(20))
    assert type(raised.value) is error
    assert len(server.requests) == tries
    assert str(code) in raised.value.message


@pytest.mark.parametrize("code", [200, 201, 202, 204])
def test_a_good_status_gives_the_body(api: Api, server: FaultServer, code: int) -> None:
    body = b"" if code == 204 else b'{"a":1}'
    server.on("/x", good(body, code))
    assert api.send(GET, Deadline(20)) == body


UID = {"reason": "FieldValueInvalid", "field": "metadata.uid", "message": "immutable"}
OTHER = {"reason": "FieldValueInvalid", "field": "spec.size", "message": "too small"}
ENDING = {"reason": "NamespaceTerminating", "message": "being terminated"}
CASES: dict[str, tuple[Request, Answer, type[TakaraSyncError], int]] = {
    "gone": (GET, status(404, "NotFound"), NotFound, 1),
    "a proxy's 404": (GET, html(404), ApiNotServed, 1),
    "namespace terminating": (AN_APPLY, status(403, "Forbidden", causes=[ENDING]), NotFound, 1),
    "forbidden": (AN_APPLY, status(403, "Forbidden", causes=[OTHER]), Rejected, 1),
    "another uid": (AN_APPLY, status(422, "Invalid", causes=[OTHER, UID]), Conflict, 1),
    "schema": (AN_APPLY, status(422, "Invalid", causes=[OTHER]), Rejected, 1),
    "failed test": (PATCH, status(422, "Invalid"), Conflict, 1),
    "patch against the schema": (PATCH, status(422, "Invalid", causes=[OTHER]), Rejected, 1),
    "422 without causes, no patch": (AN_APPLY, status(422, "Invalid"), Rejected, 1),
    "malformed template": (AN_APPLY, status(500, message=".spec.template: wrong"), InternalError, 4),
    "webhook down": (AN_APPLY, status(500, "InternalError"), Retryable, 4),
    "bare 500 elsewhere": (PATCH, status(500), Retryable, 4),
    "a proxy's 500": (AN_APPLY, html(500), Retryable, 4),
}


@pytest.mark.parametrize("name", CASES)
def test_a_status_object_and_what_it_means(api: Api, server: FaultServer, name: str) -> None:
    request, answer, error, tries = CASES[name]
    server.on("/x", answer)
    with pytest.raises(TakaraSyncError) as raised:
        api.send(request, Deadline(20))
    assert type(raised.value) is error
    assert len(server.requests) == tries


@pytest.mark.parametrize("details", [None, [], {"causes": None}, {"causes": [None]}, "text"])
def test_a_strange_status_object_is_read_as_far_as_possible(api: Api, server: FaultServer, details: Any) -> None:
    server.on("/x", good({"kind": "Status", "message": "no way", "reason": None, "details": details}, 403))
    with pytest.raises(Rejected, match="403"):
        api.send(GET, Deadline(20))


def test_the_message_says_what_was_asked_and_what_was_said_in_one_line(api: Api, server: FaultServer) -> None:
    server.on("/x", status(403, "Forbidden", 'cannot list "takaras"\n\x1b[31min namespace "a"'))
    with pytest.raises(Rejected) as raised:
        api.send(GET, Deadline(20))
    assert raised.value.message == 'GET /x was answered 403: cannot list "takaras" [31min namespace "a"'


# ------------------------------------------------------------------ Retry-After


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("9" * 30, 999999999.0),
        ("-1", 0.0),
        ("1.5", 0.0),
        ("soon", 0.0),
        ("", 0.0),
        ("²", 0.0),  # a digit to Python, but not to float
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 99 Oct 2035 07:28:00 GMT", 0.0),
    ],
)
def test_retry_after_in_seconds_or_nothing(value: str, seconds: float) -> None:
    assert retry_after({"Retry-After": value}) == seconds


def test_retry_after_as_a_date() -> None:
    assert 60 < retry_after({"Retry-After": formatdate(time.time() + 100, usegmt=True)}) <= 101


@given(st.text(st.characters(max_codepoint=255)) | st.from_regex(r"[MTWFS]\w\w,? [0-9 :+-]*( GMT)?", fullmatch=True))
def test_retry_after_never_raises(value: str) -> None:
    assert retry_after({"Retry-After": value}) >= 0
