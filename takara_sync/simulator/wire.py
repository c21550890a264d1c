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

    @property
    def media_type(self) -> str:
        """The Content-Type without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip()


@dataclass(frozen=True)
class Answer:
    """One HTTP answer; the body is what goes over the wire."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @classmethod
    def of(cls, status: int, body: object) -> Answer:
        """An answer in JSON."""
        return cls(status, msgspec.json.encode(body), {"Content-Type": "application/json"})

    @classmethod
    def text(cls, status: int, body: str) -> Answer:
        """An answer in plain text."""
        return cls(status, body.encode(), {"Content-Type": "text/plain; charset=utf-8"})

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
    """A request that ends in a Status; an empty reason is left out, as the real server does for its own failures."""

    def __init__(self, code: int, reason: str, message: str, details: Json | None = None) -> None:
        super().__init__(message)
        told: Json = {"message": message, "reason": reason, "details": details, "code": code}
        kept = {key: item for key, item in told.items() if item not in (None, "")}
        self.answer = Answer.of(
            code, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", **kept}
        )


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
    found: Json = {"name": name, "group": kind.group, "kind": kind.plural, "causes": list(causes)}
    return {key: item for key, item in found.items() if item}


def refused(code: int, reason: str, kind: Kind, name: str, why: str, causes: Iterable[Json] = ()) -> Refusal:
    """A refusal about an object, or about all of a kind where there is no name."""
    what = f'{kind.resource} "{name}"' if name else kind.resource
    return Refusal(code, reason, f"{what} {why}", details(kind, name, causes))


def invalid(kind: Kind, name: str, causes: list[Json]) -> Refusal:
    """422 with one cause a field."""
    told = dict.fromkeys(f"{found['field']}: {found['message']}" for found in causes)
    return refused(422, "Invalid", kind, name, f"is invalid: {', '.join(told)}", causes)
