"""Lists, with selectors and pages, and the views of what is read: full, metadata only, Table."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from takara_sync.simulator.kinds import Kind
from takara_sync.simulator.objects import Objects
from takara_sync.simulator.wire import Json, Refusal, bad_request

TABLE = "as=Table"
Continuations = dict[str, tuple[int, list[Json]]]
"""The version of a list and what is left of it, by continue token."""


def page(
    objects: Objects, kind: Kind, namespace: str, query: Mapping[str, str], continuations: Continuations
) -> tuple[list[Json], Json]:
    """The items that the query asks for, and the list's metadata; all pages show the moment of the first.

    Raises Refusal: 400 where a selector is malformed, 410 for a token that has expired.
    """
    token, size = query.get("continue", ""), int(query.get("limit") or 0)
    if token and token not in continuations:
        raise Refusal(410, "Expired", "The provided continue parameter is too old. You can start a new list.")
    version, items = continuations.get(token) or (objects.version, _selected(objects.all(kind, namespace), query))
    metadata: Json = {"resourceVersion": str(version)} | ({"continue": ""} if kind.crd else {})
    if 0 < size < len(items):
        metadata["continue"] = secrets.token_hex()
        continuations[metadata["continue"]] = version, items[size:]
    return items[: size or None], metadata


def _selected(items: list[Json], query: Mapping[str, str]) -> list[Json]:
    labels, fields = ([*_requirements(query.get(name, ""))] for name in ("labelSelector", "fieldSelector"))
    labelled = [item for item in items if _fits(item["metadata"].get("labels", {}), labels)]
    return [item for item in labelled if _fits({path: json_path(item, f".{path}") for path, *_ in fields}, fields)]


# A label or field, the values that it may have (None: absent), and whether it should have one of them.
_Requirement = tuple[str, set[str | None], bool]
_REQUIREMENT = re.compile(r"\s*(!?)\s*([^\s!=,()]+)\s*(?:(==?|!=|\bin\b|\bnotin\b)\s*\(?([^!=()]*)\)?)?")


def _requirements(selector: str) -> Iterator[_Requirement]:
    """What a selector asks for. Raises Refusal 400 where it cannot be parsed."""
    for part in re.split(r",(?![^()]*\))", selector) if selector else ():
        if not (found := _REQUIREMENT.fullmatch(part)):
            raise bad_request(f'unable to parse requirement: found "{part}"')
        absent, name, operator, values = found.groups()
        some: set[str | None] = {value.strip() for value in values.split(",")} if operator else {None}
        yield name, some, operator in ("=", "==", "in") or bool(absent)


def _fits(values: Mapping[str, Any], requirements: list[_Requirement]) -> bool:
    return all((values.get(name) in some) == wanted for name, some, wanted in requirements)


def listed(kind: Kind, items: list[Json], metadata: Json, accept: str, now: datetime) -> Json:
    """A page of objects in the view that the Accept header asks for."""
    if TABLE in accept:
        return table(kind, items, metadata, now)
    if "as=PartialObjectMetadata" in accept:
        shown = [_metadata_only(item) for item in items] or None  # the API server sends null for none
        of = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
        return {**of, "metadata": metadata, "items": shown}
    hidden = () if kind.crd else ("kind", "apiVersion")
    bare = [{key: part for key, part in item.items() if key not in hidden} for item in items]
    return {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": metadata, "items": bare}


def _metadata_only(value: Json) -> Json:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": value["metadata"]}


def table(kind: Kind, items: list[Json], metadata: Json, now: datetime) -> Json:
    """The objects as kubectl prints them."""
    name = {"name": "Name", "type": "string", "format": "name", "jsonPath": ".metadata.name"}
    columns = [{"priority": 0, "format": "", "description": "", **column} for column in (name, *kind.columns)]
    rows = [
        {"cells": [_cell(kind, item, column, now) for column in columns], "object": _metadata_only(item)}
        for item in items
    ]
    top = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
    return {**top, "columnDefinitions": columns, "rows": rows}


def _cell(kind: Kind, item: Json, column: Json, now: datetime) -> Any:
    """One value; of a built-in kind perhaps several (`1/3`), whose zeros are not stored."""
    values = [json_path(item, path) for path in column["jsonPath"].split("/")]
    if column["type"] == "date":
        age = now - datetime.fromisoformat(values[0])
        return f"{max(0, int(age.total_seconds()))}s"
    if kind.crd:
        return json.dumps(values[0], separators=(",", ":")) if isinstance(values[0], list) else values[0]
    return "/".join(str(value or 0) for value in values)


def json_path(value: Any, path: str) -> Any:
    """The value at a printer column's path: field names, and filters of the form `[?(@.type=="Ready")]`."""
    for name, key, wanted in re.findall(r'\.(\w+)|\[\?\(@\.(\w+)=="([^"]*)"\)\]', path):
        if name:
            value = value.get(name) if isinstance(value, dict) else None
        else:
            value = next((item for item in value or () if item.get(key) == wanted), None)
    return value
