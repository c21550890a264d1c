"""What an HTTP answer of the API server means: the one place where a status becomes one of our errors.

https://kubernetes.io/docs/reference/using-api/api-concepts/ and the `Status` kind of the API reference.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import msgspec
from msgspec import Struct

from takara_sync.errors import (
    Changed,
    ObjectError,
    Refused,
    Rejected,
    TakaraSyncError,
    Unauthorized,
    Unavailable,
    Vanished,
)
from takara_sync.reasons import one_line

APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"


class Request(Struct, frozen=True):
    """One request. `body` is a JSON value; `query` keeps its order."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: object = None
    content_type: str = "application/json"
    accept: str = "application/json"

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Answer(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Expired(ObjectError):
    """410: the continue token of a list is too old; the list starts again."""


class NotServed(Unavailable):
    """404 that is no Status of the API server: there is no such kind, or something in front of it knows no such path.

    It says nothing about the object, which may well be there.
    """


class Again(Exception):
    """Worth another try: `error` is what it amounts to when the tries are used up.

    retry_after: seconds that the server asks for. answered: whether there was an HTTP answer at all. done: whether the
    server may have done what was asked for all the same.
    """

    def __init__(
        self, error: ObjectError, *, retry_after: float = 0.0, tries: int = 4, answered: bool = True, done: bool = True
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.retry_after = retry_after
        self.tries = tries
        self.answered = answered
        self.done = done


class _Cause(Struct, frozen=True):
    reason: str = ""
    field: str = ""
    message: str = ""


class _Details(Struct, frozen=True):
    causes: tuple[_Cause, ...] | None = None


class _Status(Struct, frozen=True):
    """https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/"""

    kind: str = ""
    reason: str = ""
    message: str = ""
    details: _Details | None = None

    @property
    def causes(self) -> tuple[_Cause, ...]:
        return (self.details and self.details.causes) or ()


def judge(request: Request, answer: Answer) -> bytes:
    """The body of a good answer.

    Raises:
        Again: the server says, or such an answer means, that another try can succeed.
        Unauthorized: 401.
        Changed, Vanished, Refused, Expired, NotServed: what the caller does next about this object.
    """
    if HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        return answer.body
    status = _status_of(answer)
    words = _words(request, answer, status)
    if answer.status == HTTPStatus.NOT_FOUND and status.kind != "Status":
        raise NotServed(words)
    if answer.status in _MEANS:
        raise _MEANS[answer.status](words)
    if answer.status == HTTPStatus.FORBIDDEN:
        raise _forbidden(words, status)
    if answer.status == HTTPStatus.UNPROCESSABLE_ENTITY:
        raise _unprocessable(request, words, status)
    if answer.status < HTTPStatus.BAD_REQUEST:
        raise Refused(words, "A redirect is not followed: give the address of the API server itself.")
    if answer.status < HTTPStatus.INTERNAL_SERVER_ERROR and answer.status not in _PASSING:
        raise Refused(words)
    if answer.status == HTTPStatus.NOT_IMPLEMENTED:
        raise Refused(words)
    if _rejects(request, answer, status):
        raise Again(Rejected(words), tries=2)
    after = retry_after(answer.headers)
    error = Unavailable(f"{words}; it asks to wait for {after:.0f} s" if after else words)
    raise Again(error, retry_after=after, done=answer.status != HTTPStatus.TOO_MANY_REQUESTS)


_MEANS: dict[int, type[TakaraSyncError]] = {401: Unauthorized, 404: Vanished, 409: Changed, 410: Expired}
_PASSING = (408, 429)


def _rejects(request: Request, answer: Answer, status: _Status) -> bool:
    """Whether this is how the server fails on a malformed template: 500 without a reason, again and again."""
    bare = status.kind == "Status" and not status.reason
    return answer.status == HTTPStatus.INTERNAL_SERVER_ERROR and request.content_type == APPLY and bare


def _status_of(answer: Answer) -> _Status:
    try:
        return msgspec.json.decode(answer.body, type=_Status)
    except (msgspec.MsgspecError, RecursionError):  # a proxy's page, or an aggregated API's plain text
        return _Status(message=one_line(answer.body[:300].decode(errors="replace")))


def _words(request: Request, answer: Answer, status: _Status) -> str:
    said = one_line(status.message) or "no reason given"
    return f"{request} was answered {answer.status}: {said}"


def _forbidden(words: str, status: _Status) -> ObjectError:
    if any(cause.reason == "NamespaceTerminating" for cause in status.causes):
        return Vanished(words)
    return Refused(words, "Grant the right that is missing, or lift the policy or quota that says no.")


def _unprocessable(request: Request, words: str, status: _Status) -> ObjectError:
    another_uid = any(cause.field == "metadata.uid" for cause in status.causes)
    failed_test = request.content_type == JSON_PATCH and not status.causes
    return Changed(words) if another_uid or failed_test else Refused(words)


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds from a Retry-After header (RFC 9110, section 10.2.3), 0 where there is none that makes sense."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0
