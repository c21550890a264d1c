"""What goes in and out of the simulator: a request, an answer, and a refusal as a Kubernetes Status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

Json = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """One HTTP request: lower-case header names, a decoded path, one value for each query parameter."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @classmethod
    def of(
        cls,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        user: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """A request for `handle`: `path` as in a URL, with its query; `user` is sent as the bearer token.

        headers: those that are sent instead of the ones of the other arguments.

        Bytes are sent as they are, None as no body, everything else as JSON. Raises TypeError for what is no JSON.
        """
        where = urlsplit(path)
        sent = headers or {"content-type": content_type, "accept": accept, "authorization": f"Bearer {user}"}
        raw = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        return cls(method, unquote(where.path), dict(parse_qsl(where.query, keep_blank_values=True)), sent, raw)


@dataclass(frozen=True)
class Answer:
    """One HTTP response; `body` is what goes over the wire."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @classmethod
    def of(cls, status: int, body: object) -> Answer:
        """A response in JSON."""
        return cls(status, msgspec.json.encode(body), {"Content-Type": "application/json"})

    def json(self) -> Any:
        """The decoded body. Raises msgspec.DecodeError where it is not JSON."""
        return msgspec.json.decode(self.body)


class Recorded(NamedTuple):
    """One request that was served, its user, and the HTTP status of its answer."""

    request: Request
    user: str
    status: int


class Refusal(Exception):
    """A request that ends in a Status of failure; raise it in an admission hook to refuse a write.

    code: the HTTP status. reason: as in metav1.Status, for example "Forbidden"; the API server leaves it out of its own
    failures, and so does "". details: the `details` of the Status, if any.
    """

    def __init__(self, code: int, reason: str, message: str, details: Json | None = None) -> None:
        super().__init__(message)
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
        given = {"reason": reason, "details": details, "code": code}
        self.answer = Answer.of(code, status | {key: item for key, item in given.items() if item not in (None, "")})


def cause(reason: str, where: str, message: str) -> Json:
    """One entry of `details.causes`; `where` is the path of the field."""
    return {"reason": reason, "message": message, "field": where}


def bad_request(message: str) -> Refusal:
    """400: the request itself is wrong."""
    return Refusal(400, "BadRequest", message)
