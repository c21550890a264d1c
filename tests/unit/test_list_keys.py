"""The table of list keys is the one that Kubernetes itself publishes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]

from takara_sync.list_keys import ATOMIC, ATOMIC_ITEMS, KEYS, SETS

SCHEMAS = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / "v1.36.0-local" / "_definitions.json"
TYPES: dict[str, Any] = json.loads(SCHEMAS.read_text())["$defs"]


def type_of(schema: Any) -> str:
    """The name of the type that a schema refers to."""
    return str((schema or {}).get("$ref", "")).rpartition("/")[2]


def way(schema: Any) -> tuple[str, tuple[str, ...]]:
    """How a field is merged: the word of its list or map type, and the keys of its items."""
    told = {**TYPES.get(type_of(schema), {}), **schema}
    if "array" in str(told.get("type")):
        return told.get("x-kubernetes-list-type", "atomic"), tuple(told.get("x-kubernetes-list-map-keys", ()))
    return "one owner" if told.get("x-kubernetes-map-type") == "atomic" else "granular", ()


def fields() -> Iterator[tuple[str, Any]]:
    """Every field of a Deployment that can have an owner of its own, with its schema."""
    todo, seen = ["io.k8s.api.apps.v1.Deployment"], set()
    while todo:
        seen.add(of := todo.pop())
        for name, schema in TYPES[of].get("properties", {}).items():
            yield name, schema
            if way(schema)[0] in ("granular", "map"):
                below = {type_of(part) for part in (schema, schema.get("items"), schema.get("additionalProperties"))}
                todo += below & TYPES.keys() - seen


FIELDS = list(fields())


def named(kind: str) -> set[str]:
    return {name for name, schema in FIELDS if way(schema)[0] == kind}


def test_the_keys_are_those_of_the_schema() -> None:
    assert {(name, way(schema)[1]) for name, schema in FIELDS if way(schema)[0] == "map"} == set(KEYS.items())


def test_what_has_one_owner_has_it_in_the_schema() -> None:
    assert named("one owner") == ATOMIC
    items = {name for name, schema in FIELDS if name in KEYS and way(schema["items"])[0] == "one owner"}
    assert items == ATOMIC_ITEMS


def test_the_sets_are_those_of_the_schema() -> None:
    assert named("set") == SETS


def test_no_object_has_the_name_of_one_that_is_merged_otherwise() -> None:
    assert named("granular") & ATOMIC == set()
    assert (named("atomic") | named("set")) & KEYS.keys() == set()
