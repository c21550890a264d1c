"""Translates HTTP responses of the API server to our errors; no other module looks at status codes.

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
    ApiNotServed,
    Conflict,
    DeniedOnAdmission,
    InternalError,
    NotFound,
    ObjectError,
    Rejected,
    Retryable,
    TakaraSyncError,
    Unauthorized,
)
from takara_sync.text import one_line

APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
FORBIDDEN_HINT = "Grant the missing right, or change the policy or quota that denies the request."


class Request(Struct, frozen=True):
    """One request. `body` is a JSON value; `query` keeps its order."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: object = None
    content_type: str = "application/json"
    accept: str = "application/json"

    @property
    def writes(self) -> bool:
        return self.method != "GET"

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Response(Struct, frozen=True):
    """One complete response. secret: our bearer token, which no message may contain; empty if there is none."""

    status: int
    headers: Mapping[str, str]
    body: bytes | bytearray
    secret: str = ""


class Expired(Conflict):
    """410: the continue token of a list has expired; the list starts again."""


class _Cause(Struct, frozen=True):
    reason: str = ""
    field: str = ""


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


def raise_for_status(request: Request, response: Response) -> bytes | bytearray:
    """The body of a 2xx response.

    Raises:
        Retryable: the same request may succeed later. InternalError: the same, unless the pod template is malformed.
        Unauthorized: 401.
        Conflict, NotFound, Rejected, Expired, ApiNotServed: see `takara_sync.errors`.
    """
    code = response.status
    if HTTPStatus.OK <= code < HTTPStatus.MULTIPLE_CHOICES:
        return response.body
    status = _status_of(response)
    message = _message(request, response, status)
    if code == HTTPStatus.NOT_FOUND and status.kind != "Status":
        raise ApiNotServed(message)
    if code in _MEANS:
        raise _MEANS[code](message)
    if code == HTTPStatus.FORBIDDEN:
        raise _forbidden(message, status)
    if code == HTTPStatus.UNPROCESSABLE_ENTITY:
        raise _unprocessable(request, message, status)
    if code < HTTPStatus.BAD_REQUEST:
        raise Rejected(message, "A redirect is not followed: give the address of the API server itself.")
    if (code < HTTPStatus.INTERNAL_SERVER_ERROR and code not in _TRANSIENT) or code == HTTPStatus.NOT_IMPLEMENTED:
        raise Rejected(message)
    raise _transient(request, response, status, message)


_MEANS: dict[int, type[TakaraSyncError]] = {401: Unauthorized, 404: NotFound, 409: Conflict, 410: Expired}
_TRANSIENT = (408, 429)


def _transient(request: Request, response: Response, status: _Status, message: str) -> Retryable:
    """A transient failure. The server never executes a request that gets 429.

    https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
    """
    after = retry_after(response.headers)
    message = f"{message}; the server asks to wait for {after:.0f} s" if after else message
    without_reason = (
        response.status == HTTPStatus.INTERNAL_SERVER_ERROR and status.kind == "Status" and not status.reason
    )
    kind = InternalError if without_reason and request.content_type == APPLY else Retryable
    return kind(message, retry_after=after, executed=response.status != HTTPStatus.TOO_MANY_REQUESTS)


def _status_of(response: Response) -> _Status:
    try:
        return msgspec.json.decode(response.body, type=_Status)
    except (msgspec.MsgspecError, RecursionError):  # HTML of a proxy, or plain text of an aggregated API
        return _Status(message=response.body[:4096].decode(errors="replace"))


def _message(request: Request, response: Response, status: _Status) -> str:
    """The request and the response as text, without our token, because a proxy may echo the request."""
    said = status.message.replace(response.secret, "*" * 8) if response.secret else status.message
    return f"{request} was answered {response.status}: {one_line(said) or 'no reason given'}"


def _forbidden(message: str, status: _Status) -> ObjectError:
    if any(cause.reason == "NamespaceTerminating" for cause in status.causes):
        return NotFound(message)
    if any(not cause.reason and not cause.field for cause in status.causes):  # an authorizer or a quota gives no cause
        return DeniedOnAdmission(message)
    return Rejected(message, FORBIDDEN_HINT)


def _unprocessable(request: Request, message: str, status: _Status) -> ObjectError:
    another_uid = any(cause.field == "metadata.uid" for cause in status.causes)
    failed_test = request.content_type == JSON_PATCH and not status.causes
    return Conflict(message) if another_uid or failed_test else Rejected(message)


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds from a Retry-After header (RFC 9110, section 10.2.3); 0 if it is missing or malformed."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0
