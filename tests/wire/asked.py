"""One request as the server got it, and which call of a pass over the fleet it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

LISTS = ("deployments", "more deployments", "takaras", "more takaras", "pods", "more pods")
VICTIMS = {
    "look-up": "strange",
    "create": "fresh",
    "takara again": "old",
    "deployment again": "old",
    "take-over": "old",
    "apply": "drifted",
    "status": "drifted",
}
"""The calls about one object, and the Takara that the fault strikes; the others are in good health."""
CALLS = (*LISTS, *VICTIMS)
EVENT = "event"
"""A call on which nothing depends, so that no fault is made for it."""
WRITES = ("create", "take-over", "apply", "status")


@dataclass(frozen=True)
class Asked:
    """One request as it came in. Header names are in lower case; `connection` counts accepted connections."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    connection: int


def call_of(asked: Asked) -> str:
    """Which of CALLS this is, and "other" for what no pass should ask."""
    if asked.method == "CONNECT":
        return "tunnel"
    what, *name = asked.path.partition("/namespaces/default/")[2].split("/") if "/namespaces/" in asked.path else [""]
    plural = asked.path.rpartition("/")[2]
    if asked.method == "GET" and not what:
        return next((call for call in LISTS if call == f"{'more ' * ('continue' in asked.query)}{plural}"), "other")
    if asked.method == "GET" and name == ["strange"]:
        return "look-up"
    if asked.method == "GET":
        return f"{what.removesuffix('s')} again"
    if asked.method == "PATCH":
        return "status" if plural == "status" else _write(json.loads(asked.body))
    return EVENT if (asked.method, plural) == ("POST", "events") else "other"


def _write(body: Any) -> str:
    if isinstance(body, list):
        return "take-over"
    return "create" if body["metadata"].get("resourceVersion") == "1" else "apply"


def concerns(asked: Asked, call: str) -> bool:
    """Whether this is that call, about its victim."""
    return call_of(asked) == call and (call in LISTS or f"/{VICTIMS[call]}" in asked.path)
