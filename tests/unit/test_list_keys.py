"""The lists of a Deployment are told apart by the keys that Kubernetes itself publishes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from takara_sync.changes import leaves
from tests.unit.build import Json

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMAS = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / "v1.36.0-local" / "_definitions.json"
ROOTS = ("io.k8s.api.apps.v1.DeploymentSpec", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
NOT_IN_A_TEMPLATE = {"ephemeralContainers"}


def keyed_lists() -> dict[str, tuple[str, ...]]:
    """Every list of a Deployment's metadata and spec that the server merges by keys."""
    schemas: Json = json.loads(SCHEMAS.read_text())["$defs"]
    todo, seen, found = list(ROOTS), set(ROOTS), {}
    while todo:
        for name, field in schemas[todo.pop()].get("properties", {}).items():
            if keys := field.get("x-kubernetes-list-map-keys"):
                found[name] = tuple(keys)
            new = set(_references(field)) - seen
            todo += new
            seen |= new
    return {name: keys for name, keys in found.items() if name not in NOT_IN_A_TEMPLATE}


def _references(field: Json) -> Iterator[str]:
    """What a field, its items or its values refer to."""
    for part in (field, field.get("items"), field.get("additionalProperties")):
        if isinstance(part, dict) and "$ref" in part:
            yield part["$ref"].rpartition("/")[2]


KEYED = keyed_lists()


def test_the_schema_knows_the_lists_that_are_always_there() -> None:
    assert KEYED.keys() >= {"containers", "env", "ports", "volumes", "ownerReferences"}


@pytest.mark.parametrize("name", sorted(KEYED))
def test_the_items_of_a_list_are_told_apart_by_its_keys(name: str) -> None:
    item: dict[str, Any] = {key: f"a {key}" for key in KEYED[name]} | {"more": 1}
    picked = tuple((key, f"a {key}") for key in KEYED[name])
    assert {path[:2] for path, _ in leaves({name: [item]})} == {(name, picked)}
