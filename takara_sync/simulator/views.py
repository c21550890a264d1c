"""How an object or a list is shown: in full, as metadata only, or as the Table that `kubectl get` prints."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from takara_sync.simulator.kinds import DEPLOYMENT, EVENT, NAMESPACE, POD, REPLICA_SET, Kind
from takara_sync.simulator.wire import Json, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from takara_sync.simulator.lists import Page

# header, type, priority, cell; "age" is filled in from the creation time
_Column = tuple[str, str, int, "Callable[[Json], Any]"]
_UNITS = ((31_536_000, "y"), (86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def chosen(accept: str) -> str:
    """`full`, `metadata` or `table`: the first of the Accept header that is served.  Raises Refusal 406."""
    for item in (accept or "*/*").split(","):
        media, *parameters = (part.strip() for part in item.split(";"))
        if media not in ("application/json", "application/*", "*/*"):
            continue
        said = dict(part.split("=", 1) for part in parameters if "=" in part)
        if said.get("as", "").startswith("PartialObjectMetadata") and said.get("g") == "meta.k8s.io":
            return "metadata"
        if said.get("as") == "Table":
            return "table"
        if "as" not in said:
            return "full"
    raise Refusal(406, "NotAcceptable", "only the following media types are accepted: application/json")


def one(kind: Kind, value: Json, view: str, now: datetime, query_include: str = "Metadata") -> Json:
    """A single object in the view."""
    if view == "metadata":
        return _metadata_only(value)
    if view == "table":
        return _table(kind, [value], {"resourceVersion": value["metadata"]["resourceVersion"]}, now, query_include)
    return value


def many(kind: Kind, page: Page, view: str, now: datetime, query_include: str = "Metadata") -> Json:
    """A page of objects in the view."""
    metadata: Json = {"resourceVersion": str(page.version)}
    if page.token or (kind.custom and view == "full"):
        metadata["continue"] = page.token
    if page.token and page.remaining is not None:
        metadata["remainingItemCount"] = page.remaining
    if view == "table":
        return _table(kind, page.items, metadata, now, query_include)
    if view == "metadata":
        items = [_metadata_only(item) for item in page.items] or None  # the real server says null
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            "items": items,
        }
    shown = (
        page.items
        if kind.custom
        else [{key: part for key, part in item.items() if key not in ("kind", "apiVersion")} for item in page.items]
    )
    return {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": metadata, "items": shown}


def _metadata_only(value: Json) -> Json:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": value["metadata"]}


def _table(kind: Kind, items: list[Json], metadata: Json, now: datetime, include: str) -> Json:
    columns = _crd_columns(kind) if kind.custom else _COLUMNS[kind]
    name: Json = {"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0}
    heads = [
        name,
        *(
            {"name": head, "type": of, "format": "", "description": "", "priority": priority}
            for head, of, priority, _ in columns
        ),
    ]
    rows = [
        {
            "cells": [item["metadata"]["name"], *(_cell(of, read(item), now) for _, of, _, read in columns)],
            **({} if include == "None" else {"object": item if include == "Object" else _metadata_only(item)}),
        }
        for item in items
    ]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": heads,
        "rows": rows,
    }


def _cell(of: str, value: Any, now: datetime) -> Any:
    if of == "date":
        return _age(value, now)
    return json.dumps(value, separators=(",", ":")) if isinstance(value, dict | list) else value


def _age(since: str | None, now: datetime) -> str:
    if not since:
        return "<unknown>"
    seconds = max(0, int((now - datetime.fromisoformat(since).astimezone(UTC)).total_seconds()))
    size, unit = next((found for found in _UNITS if seconds >= 2 * found[0]), _UNITS[-1])
    return f"{seconds // size}{unit}"


def _crd_columns(kind: Kind) -> list[_Column]:
    def reader(path: str) -> Callable[[Json], Any]:
        return lambda item: json_path(item, path)

    return [
        (column["name"], column["type"], column.get("priority", 0), reader(column["jsonPath"]))
        for column in kind.columns
    ]


def json_path(value: Any, path: str) -> Any:
    """What a printer column's path finds: field names, and list filters of the form `[?(@.type=="Ready")]`."""
    for name, key, wanted in re.findall(r'\.(\w+)|\[\?\(@\.(\w+)=="([^"]*)"\)\]', path.replace("\\", "")):
        if name:
            value = value.get(name) if isinstance(value, dict) else None
        else:
            value = next((item for item in value or () if item.get(key) == wanted), None)
    return value


def _at(*path: str, otherwise: Any = None) -> Callable[[Json], Any]:
    def read(item: Any) -> Any:
        for name in path:
            item = (item or {}).get(name)
        return otherwise if item is None else item

    return read


def _ready(item: Json) -> str:
    return f"{item['status'].get('readyReplicas', 0)}/{item['spec'].get('replicas', 0)}"


def _pod_ready(item: Json) -> str:
    ready = [found.get("ready") for found in item["status"].get("containerStatuses", ())]
    return f"{ready.count(True)}/{len(item['spec']['containers'])}"


def _pod_status(item: Json) -> str:
    return "Terminating" if "deletionTimestamp" in item["metadata"] else item["status"].get("phase", "Unknown")


def _containers(field: str) -> Callable[[Json], str]:
    return lambda item: ",".join(found[field] for found in item["spec"]["template"]["spec"]["containers"])


def _selector(item: Json) -> str:
    return ",".join(f"{key}={value}" for key, value in item["spec"]["selector"].get("matchLabels", {}).items())


_AGE: _Column = ("Age", "date", 0, _at("metadata", "creationTimestamp"))
_TEMPLATE: list[_Column] = [
    ("Containers", "string", 1, _containers("name")),
    ("Images", "string", 1, _containers("image")),
    ("Selector", "string", 1, _selector),
]
_COLUMNS: dict[Kind, list[_Column]] = {
    DEPLOYMENT: [
        ("Ready", "string", 0, _ready),
        ("Up-to-date", "integer", 0, _at("status", "updatedReplicas", otherwise=0)),
        ("Available", "integer", 0, _at("status", "availableReplicas", otherwise=0)),
        _AGE,
        *_TEMPLATE,
    ],
    REPLICA_SET: [
        ("Desired", "integer", 0, _at("spec", "replicas", otherwise=0)),
        ("Current", "integer", 0, _at("status", "replicas", otherwise=0)),
        ("Ready", "integer", 0, _at("status", "readyReplicas", otherwise=0)),
        _AGE,
        *_TEMPLATE,
    ],
    POD: [
        ("Ready", "string", 0, _pod_ready),
        ("Status", "string", 0, _pod_status),
        ("Restarts", "string", 0, lambda _: "0"),
        _AGE,
        ("IP", "string", 1, _at("status", "podIP", otherwise="<none>")),
        ("Node", "string", 1, _at("spec", "nodeName", otherwise="<none>")),
    ],
    NAMESPACE: [("Status", "string", 0, _at("status", "phase")), _AGE],
    EVENT: [
        ("Last Seen", "date", 0, _at("lastTimestamp")),
        ("Type", "string", 0, _at("type")),
        ("Reason", "string", 0, _at("reason")),
        ("Object", "string", 0, _at("involvedObject", "name")),
        ("Message", "string", 0, _at("message")),
    ],
}
