"""What goes in and out of the simulator: a request, an answer, and a refusal as a Kubernetes Status."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from takara_sync.simulator.kinds import Kind

Json = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """One HTTP request; header names are in lower case, the path is decoded, the query has one value a key."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True)
class Answer:
    """One HTTP answer; the body is what goes over the wire."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @classmethod
    def of(cls, status: int, body: object, **headers: str) -> Answer:
        """An answer in JSON."""
        return cls(status, msgspec.json.encode(body), {"Content-Type": "application/json", **headers})

    def json(self) -> Any:
        """The decoded body.  Raises msgspec.DecodeError where it is no JSON."""
        return msgspec.json.decode(self.body)


@dataclass(frozen=True)
class Recorded:
    """One request as it was served, for counting."""

    method: str
    path: str
    query: Mapping[str, str]
    user: str
    status: int
    user_agent: str = ""


class Refusal(Exception):
    """A request that ends in a Status; `status()` is the body that the client reads."""

    def __init__(self, code: int, reason: str, message: str, details: Json | None = None) -> None:
        super().__init__(message)
        self.code, self.reason, self.message, self.details = code, reason, message, details

    def status(self) -> Json:
        """The Status object; an empty reason is left out, as the real server does for its own failures."""
        body: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        body["message"] = self.message
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        return {**body, "code": self.code}


def cause(reason: str, where: str, message: str) -> Json:
    """One entry of `details.causes`; `where` is the path of the field."""
    return {"reason": reason, "message": message, "field": where}


def bad_request(message: str) -> Refusal:
    """400: the request itself is wrong."""
    return Refusal(400, "BadRequest", message)


def not_served(what: str) -> Refusal:
    """501: a real server does it, the simulator does not."""
    return Refusal(501, "NotImplemented", f"{what} is not served by the takara-sync simulator")


def details(kind: Kind, name: str, causes: Iterable[Json] = ()) -> Json:
    """Details that name a resource (plural), as most refusals have them."""
    found: Json = {"name": name, "kind": kind.plural} if name else {"kind": kind.plural}
    if kind.group:
        found["group"] = kind.group
    listed = list(causes)
    return {**found, "causes": listed} if listed else found


def not_found(kind: Kind, name: str) -> Refusal:
    """404 for an object."""
    return Refusal(404, "NotFound", f'{kind.resource} "{name}" not found', details(kind, name))


def conflict(kind: Kind, name: str, why: str) -> Refusal:
    """409: the object is not the one the writer had in mind."""
    return Refusal(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {kind.resource} "{name}": {why}',
        details(kind, name),
    )


def invalid(kind: Kind, name: str, causes: list[Json]) -> Refusal:
    """422 with one cause a field; the details name the kind, not the resource."""
    told = list(dict.fromkeys(f"{found['field']}: {found['message']}" for found in causes))
    words = told[0] if len(told) == 1 else f"[{', '.join(told)}]"
    qualified = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    return Refusal(
        422,
        "Invalid",
        f'{qualified} "{name}" is invalid: {words}',
        {**details(kind, name, causes), "kind": kind.kind},
    )


def forbidden(kind: Kind, name: str, why: str, causes: Iterable[Json] = ()) -> Refusal:
    """403 with the words of the real server."""
    what = f'{kind.resource} "{name}"' if name else kind.resource
    return Refusal(403, "Forbidden", f"{what} is forbidden: {why}", details(kind, name, causes))
