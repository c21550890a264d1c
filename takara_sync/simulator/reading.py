"""Lists with selectors and pages of one moment; and how objects are shown: in full, as metadata only, as a Table."""

from __future__ import annotations

import base64
import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from takara_sync.simulator.kinds import DEPLOYMENT, EVENT, POD, Kind
from takara_sync.simulator.wire import Json, Refusal, bad_request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from takara_sync.simulator.objects import Objects

_MOMENTS = 64  # how many lists can be open at once before the oldest one's tokens expire
_FIELDS: dict[Kind, tuple[str, ...]] = {
    POD: ("status.phase", "spec.nodeName", "spec.restartPolicy"),
    EVENT: (*(f"involvedObject.{name}" for name in ("kind", "namespace", "name", "uid")), "reason", "type"),
}
_UNITS = ((31_536_000, "y"), (86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))
_AGE = ("Age", "date", 0, ".metadata.creationTimestamp")
_CONTAINERS = ".spec.template.spec.containers[*]"
_COLUMNS: dict[Kind, tuple[tuple[str, str, int, str], ...]] = {  # header, type, priority, path or `path/path`
    DEPLOYMENT: (
        ("Ready", "string", 0, ".status.readyReplicas/.spec.replicas"),
        ("Up-to-date", "integer", 0, ".status.updatedReplicas"),
        ("Available", "integer", 0, ".status.availableReplicas"),
        *(_AGE, ("Containers", "string", 1, f"{_CONTAINERS}.name"), ("Images", "string", 1, f"{_CONTAINERS}.image")),
    ),
    POD: (("Status", "string", 0, ".status.phase"), _AGE),
}


class Lists:
    """Answers list requests from the objects; a token is bound to the moment of its first page."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._moments: dict[tuple[int, Kind, str], list[Json]] = {}

    def expire_tokens(self) -> None:
        """Every token handed out so far answers 410, as after a compaction of etcd."""
        self._moments.clear()

    def page(self, kind: Kind, namespace: str, query: Mapping[str, str]) -> tuple[list[Json], Json]:
        """The items that the query asks for, and the list's metadata.

        Raises Refusal: 400 where the query is malformed, 410 for an expired token.
        """
        limit = query.get("limit") or "0"
        if not limit.isdecimal():
            raise bad_request(f'strconv.ParseInt: parsing "{limit}": invalid syntax')
        size = 0 if query.get("resourceVersion") == "0" else int(limit)  # a list from the cache ignores the limit
        version, start = _decoded(query["continue"]) if query.get("continue") else (self._objects.version, "")
        everything = self._at(version, kind, namespace, resumed=bool(start))
        labels = label_selector(query.get("labelSelector", ""))
        fields = _field_selector(kind, query.get("fieldSelector", ""))
        selected = [one for one in everything if labels(one["metadata"].get("labels", {})) and fields(one)]
        chosen = [one for one in selected if _key(one) > start]
        metadata: Json = {"resourceVersion": str(version)} | ({"continue": ""} if kind.crd else {})
        if size and len(chosen) > size:
            self._moments[version, kind, namespace] = everything
            while len(self._moments) > _MOMENTS:
                del self._moments[next(iter(self._moments))]
            metadata["continue"] = _encoded(version, _key(chosen[size - 1]))
            if not query.get("labelSelector") and not query.get("fieldSelector"):
                metadata["remainingItemCount"] = len(chosen) - size
        return chosen[:size] if size else chosen, metadata

    def _at(self, version: int, kind: Kind, namespace: str, *, resumed: bool) -> list[Json]:
        if not resumed:
            return self._objects.all(kind, namespace)
        if (version, kind, namespace) not in self._moments:
            raise Refusal(410, "Expired", "The provided continue parameter is too old. You can start a new list.")
        return self._moments[version, kind, namespace]


def _key(item: Json) -> str:
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


def _encoded(version: int, start: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([version, start]).encode()).decode()


def _decoded(token: str) -> tuple[int, str]:
    try:
        version, start = json.loads(base64.urlsafe_b64decode(token))
        return int(version), str(start)
    except (ValueError, TypeError) as error:
        raise bad_request(f"continue key is not valid: {error}") from error


def label_selector(text: str) -> Callable[[Mapping[str, str]], bool]:
    """A test for labels from the string form.  Raises Refusal 400 where it cannot be parsed."""
    tests = [_requirement(part.strip()) for part in re.split(r",(?![^()]*\))", text) if part.strip()]
    return lambda labels: all((labels.get(key) in values) == wanted for key, values, wanted in tests)


def _requirement(part: str) -> tuple[str, Any, bool]:
    """(The label, the values that it may have, whether it should have one of them)."""
    if found := re.fullmatch(r"(\S+)\s+(in|notin)\s+\(([^()]*)\)", part):
        return found[1], {item.strip() for item in found[3].split(",")}, found[2] == "in"
    if found := re.fullmatch(r"([^\s!=,()]+)\s*(!=|==?)\s*([^\s!=,()]*)", part):
        return found[1], {found[3]}, found[2] != "!="
    if found := re.fullmatch(r"(!?)\s*([^\s!=,()]+)", part):
        return found[2], {None}, bool(found[1])
    raise bad_request(f'unable to parse requirement: found "{part}"')


def _field_selector(kind: Kind, text: str) -> Callable[[Json], bool]:
    tests = [_requirement(part) for part in text.split(",") if part]
    for path, *_ in tests:
        if path not in ("metadata.name", "metadata.namespace", *_FIELDS.get(kind, ())):
            raise bad_request(f"field label not supported: {path}")
    return lambda item: all((str(json_path(item, f".{path}") or "") in some) == wanted for path, some, wanted in tests)


def view_of(accept: str) -> str:
    """`full`, `metadata` or `Table`: the first of the Accept header that is served.  Raises Refusal 406."""
    for item in (accept or "*/*").split(","):
        media, *parameters = (part.strip() for part in item.split(";"))
        if media in ("application/json", "application/*", "*/*"):
            wanted = next((part[3:] for part in parameters if part.startswith("as=")), "full")
            return "metadata" if wanted.startswith("PartialObjectMetadata") else wanted
    raise Refusal(406, "NotAcceptable", "only the following media types are accepted: application/json")


def one(kind: Kind, value: Json, view: str, now: datetime) -> Json:
    """A single object in the view."""
    if view == "Table":
        return _table(kind, [value], {}, now)
    return _metadata_only(value) if view == "metadata" else value


def many(kind: Kind, items: list[Json], metadata: Json, view: str, now: datetime) -> Json:
    """A page of objects in the view."""
    if view == "Table":
        return _table(kind, items, metadata, now)
    if view == "metadata":
        shown = [_metadata_only(item) for item in items] or None  # the real server says null
        of = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
        return {**of, "metadata": metadata, "items": shown}
    hidden = () if kind.crd else ("kind", "apiVersion")
    bare = [{key: part for key, part in item.items() if key not in hidden} for item in items]
    return {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": metadata, "items": bare}


def _metadata_only(value: Json) -> Json:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": value["metadata"]}


def _table(kind: Kind, items: list[Json], metadata: Json, now: datetime) -> Json:
    custom = tuple((one["name"], one["type"], one.get("priority", 0), one["jsonPath"]) for one in kind.columns)
    columns = (("Name", "string", 0, ".metadata.name"), *(custom or _COLUMNS.get(kind, (_AGE,))))
    heads = [
        {"name": name, "type": of, "priority": priority, "format": "name" if name == "Name" else "", "description": ""}
        for name, of, priority, _ in columns
    ]
    rows = [
        {"cells": [_cell(kind, item, of, path, now) for _, of, _, path in columns], "object": _metadata_only(item)}
        for item in items
    ]
    top = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
    return {**top, "columnDefinitions": heads, "rows": rows}


def _cell(kind: Kind, item: Json, of: str, path: str, now: datetime) -> Any:
    values = [json_path(item, part) for part in path.split("/")]
    if of == "date":
        return _age(values[0], now)
    if kind.crd:
        return json.dumps(values[0], separators=(",", ":")) if isinstance(values[0], dict | list) else values[0]
    return "/".join(",".join(value) if isinstance(value, list) else str(value or 0) for value in values)


def _age(since: str | None, now: datetime) -> str:
    if not since:
        return "<unknown>"
    seconds = max(0, int((now - datetime.fromisoformat(since)).total_seconds()))
    size, unit = next((found for found in _UNITS if seconds >= 2 * found[0]), _UNITS[-1])
    return f"{seconds // size}{unit}"


def json_path(value: Any, path: str) -> Any:
    """What a printer column's path finds: field names, `[*]`, and list filters of the form `[?(@.type=="Ready")]`."""
    steps = re.findall(r'\.(\w+)|\[\?\(@\.(\w+)=="([^"]*)"\)\]|\[\*\]', path.replace("\\", ""))
    for name, key, wanted in steps:
        if name and isinstance(value, list):
            value = [item.get(name) for item in value]
        elif name:
            value = value.get(name) if isinstance(value, dict) else None
        elif key:
            value = next((item for item in value or () if item.get(key) == wanted), None)
    return value
