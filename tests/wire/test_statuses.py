"""Every HTTP status becomes one of our errors. How often each is tried is in test_every_call."""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takara_sync.errors import (
    ApiNotServed,
    Conflict,
    DeniedOnAdmission,
    InternalError,
    NotFound,
    Rejected,
    Retryable,
    TakaraSyncError,
    Unauthorized,
)
from takara_sync.kube.response import (
    APPLY,
    JSON_PATCH,
    Expired,
    Request,
    Response,
    raise_for_status,
    retry_after,
)

GET = Request("GET", "/x")
PATCH = Request("PATCH", "/x", body=[], content_type=JSON_PATCH)
AN_APPLY = Request("PATCH", "/x", body={}, content_type=APPLY)
HTML = b"<html><body>Please log in</body></html>"

REDIRECTS = (300, 301, 302, 303, 304, 305, 307, 308)
REFUSED = (400, 402, 403, 405, 406, 411, 412, 413, 414, 415, 418, 422, 423, 431, 501)
TABLE: dict[int, type[TakaraSyncError]] = {
    **dict.fromkeys((*REDIRECTS, *REFUSED), Rejected),
    **dict.fromkeys((408, 429, 500, 502, 503, 504, 505, 507, 511, 599), Retryable),
    401: Unauthorized,
    404: ApiNotServed,
    409: Conflict,
    410: Expired,
}


def status(reason: str = "", message: str = "said", **details: Any) -> bytes:
    """A Kubernetes Status."""
    return msgspec.json.encode({"kind": "Status", "reason": reason, "message": message, "details": details})


def error_of(code: int, request: Request = GET, body: bytes = b"") -> TakaraSyncError:
    with pytest.raises(TakaraSyncError) as raised:
        raise_for_status(request, Response(code, {}, body))
    return raised.value


@pytest.mark.parametrize("code", TABLE)
def test_a_status_and_what_it_means(code: int) -> None:
    error = error_of(code)
    assert type(error) is TABLE[code]
    assert str(code) in error.message
    assert ("redirect is not followed" in error.hint) == (code in REDIRECTS)


@pytest.mark.parametrize("code", [200, 201, 202, 204])
def test_a_good_status_gives_the_body(code: int) -> None:
    assert raise_for_status(GET, Response(code, {}, b'{"a":1}')) == b'{"a":1}'


UID = {"reason": "FieldValueInvalid", "field": "metadata.uid", "message": "immutable"}
OTHER = {"reason": "FieldValueInvalid", "field": "spec.size", "message": "too small"}
DENIED = {"message": "ValidatingAdmissionPolicy 'x' with binding 'x' denied request: no"}
ENDING = {"reason": "NamespaceTerminating", "message": "being terminated"}
CASES: dict[str, tuple[Request, int, bytes, type[TakaraSyncError]]] = {
    "gone": (GET, 404, status("NotFound"), NotFound),
    "a proxy's 404": (GET, 404, HTML, ApiNotServed),
    "namespace terminating": (AN_APPLY, 403, status("Forbidden", causes=[ENDING]), NotFound),
    "forbidden": (AN_APPLY, 403, status("Forbidden", causes=[OTHER]), Rejected),
    "denied by an admission policy": (AN_APPLY, 403, status("Forbidden", causes=[DENIED]), DeniedOnAdmission),
    "another uid": (AN_APPLY, 422, status("Invalid", causes=[OTHER, UID]), Conflict),
    "schema": (AN_APPLY, 422, status("Invalid", causes=[OTHER]), Rejected),
    "failed test": (PATCH, 422, status("Invalid"), Conflict),
    "patch against the schema": (PATCH, 422, status("Invalid", causes=[OTHER]), Rejected),
    "422 without causes, no patch": (AN_APPLY, 422, status("Invalid"), Rejected),
    "malformed template": (AN_APPLY, 500, status(message=".spec.template: wrong"), InternalError),
    "webhook down": (AN_APPLY, 500, status("InternalError"), Retryable),
    "bare 500 elsewhere": (PATCH, 500, status(), Retryable),
    "a proxy's 500": (AN_APPLY, 500, HTML, Retryable),
}


@pytest.mark.parametrize("name", CASES)
def test_a_status_object_and_what_it_means(name: str) -> None:
    request, code, body, error = CASES[name]
    assert type(error_of(code, request, body)) is error


@pytest.mark.parametrize("details", [None, [], {"causes": None}, {"causes": [None]}, "text"])
def test_a_strange_status_object_is_read_as_far_as_possible(details: Any) -> None:
    body = msgspec.json.encode({"kind": "Status", "message": "no way", "reason": None, "details": details})
    assert type(error_of(403, body=body)) is Rejected


def test_only_a_missing_right_is_asked_for() -> None:
    denied, unauthorized = (error_of(403, body=status("Forbidden", causes=causes)) for causes in ([DENIED], []))
    assert "Grant" in unauthorized.hint
    assert "Grant" not in denied.hint
    assert "no right is missing" in denied.hint


def test_the_message_says_what_was_asked_and_what_was_said_in_one_line() -> None:
    error = error_of(403, body=status("Forbidden", 'cannot list "takaras"\n\x1b[31min namespace "a"'))
    assert error.message == 'GET /x was answered 403: cannot list "takaras" [31min namespace "a"'


# ------------------------------------------------------------------ Retry-After


SECONDS = {"7": 7, " 7 ": 7, "0": 0, "9" * 30: 999999999, "-1": 0, "1.5": 0, "soon": 0, "": 0}
SECONDS |= {"²": 0}  # a digit to Python, but not to float
SECONDS |= {"Wed, 21 Oct 2015 07:28:00 GMT": 0, "Wed, 99 Oct 2035 07:28:00 GMT": 0}


@pytest.mark.parametrize("value", SECONDS)
def test_retry_after_in_seconds_or_nothing(value: str) -> None:
    assert retry_after({"Retry-After": value}) == SECONDS[value]


def test_retry_after_as_a_date() -> None:
    assert 60 < retry_after({"Retry-After": formatdate(time.time() + 100, usegmt=True)}) <= 101


@given(st.text(st.characters(max_codepoint=255)) | st.from_regex(r"[MTWFS]\w\w,? [0-9 :+-]*( GMT)?", fullmatch=True))
def test_retry_after_never_raises(value: str) -> None:
    assert retry_after({"Retry-After": value}) >= 0
