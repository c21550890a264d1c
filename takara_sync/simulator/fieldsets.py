"""Sets of fields, as managedFields tells them: paths, entries, and the types that decide what a path is.

After structured-merge-diff (`fieldpath/set.go`, `fieldpath/serialize.go`).  A set of fields is a set of paths; a path
is a tuple of the elements that fieldsV1 writes: `f:spec`, `k:{"name":"takara"}`, `v:"x"`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Json = dict[str, Any]
Path = tuple[str, ...]
Paths = frozenset[Path]

# The list and map types of apps/v1 and core/v1 that matter, by field name.  What is not named here is granular
# where it is an object and atomic where it is a list.
ASSOCIATIVE: dict[str, tuple[str, ...]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "ports": ("containerPort", "protocol"),
    "imagePullSecrets": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "conditions": ("type",),
    "ownerReferences": ("uid",),
}
SETS = frozenset({"finalizers"})
ATOMIC = frozenset(
    {
        "selector",
        "labelSelector",
        "nodeSelector",
        "secretKeyRef",
        "configMapKeyRef",
        "fieldRef",
        "resourceFieldRef",
    }
)
_KEY_DEFAULTS = {"protocol": "TCP"}
_UNOWNED = frozenset(
    {(), ("f:apiVersion",), ("f:kind",), ("f:metadata",)}
    | {
        ("f:metadata", f"f:{name}")
        for name in (
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "generation",
            "managedFields",
            "resourceVersion",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        )
    }
)


class _Node:
    """Stands for an object or list in a flat map: what is below it has paths of its own."""


_NODE = _Node()


@dataclass(frozen=True)
class Entry:
    """One entry of managedFields."""

    manager: str
    operation: str
    api_version: str
    subresource: str = ""
    time: str | None = None
    paths: Paths = frozenset()

    @property
    def ident(self) -> tuple[str, str, str, str]:
        """What makes two entries the same one."""
        return self.manager, self.operation, self.api_version, self.subresource

    def encode(self) -> Json:
        """The entry as it stands in the object."""
        found: Json = {"manager": self.manager, "operation": self.operation, "apiVersion": self.api_version}
        if self.time is not None:
            found["time"] = self.time
        found |= {"fieldsType": "FieldsV1", "fieldsV1": fields_v1(self.paths)}
        return {**found, "subresource": self.subresource} if self.subresource else found


def decode(managed_fields: Iterable[Json]) -> list[Entry]:
    """The entries of an object.  Raises KeyError, TypeError or AttributeError where one is malformed."""
    return [
        Entry(
            item["manager"],
            item["operation"],
            item["apiVersion"],
            item.get("subresource", ""),
            item.get("time"),
            frozenset(_members(item["fieldsV1"], ())),
        )
        for item in managed_fields
    ]


def encode(entries: Iterable[Entry]) -> list[Json]:
    """managedFields, in the real server's order; entries that own nothing are dropped."""

    def order(entry: Entry) -> tuple[str, ...]:
        return entry.operation, entry.time or "", entry.manager, entry.api_version, entry.subresource

    return [entry.encode() for entry in sorted(entries, key=order) if entry.paths]


def _members(node: Mapping[str, Any], path: Path) -> Iterable[Path]:
    if path and (not node or "." in node):
        yield path
    for name, below in node.items():
        if name != ".":
            yield from _members(below, (*path, name))


def fields_v1(paths: Paths) -> Json:
    """The paths as a fieldsV1 tree, always in the same order."""
    nodes = {path[:depth] for path in paths for depth in range(len(path))}
    root: Json = {}
    for path in sorted(paths):
        node = root
        for element in path:
            node = node.setdefault(element, {})
        if path in nodes:
            node["."] = {}
    return root


def flat(value: Any, path: Path = (), name: str = "") -> dict[Path, Any]:
    """Every path of an object with its leaf value; objects and non-atomic lists have paths of their own too."""
    if isinstance(value, dict) and name not in ATOMIC:
        found = {path: _NODE}
        for key, item in value.items():
            found |= flat(item, (*path, f"f:{key}"), key)
        return found
    if is_associative(value, name):
        found = {path: _NODE}
        for item in value:
            at = (*path, key_of(item, name))
            found |= {at: item} if name == "ownerReferences" else flat(item, at)
        return found
    if isinstance(value, list) and name in SETS:
        return {path: _NODE} | {(*path, f"v:{compact(item)}"): item for item in value}
    return {path: value}


def is_associative(value: Any, name: str) -> bool:
    """Whether a field of this name and value is a list whose items have keys."""
    return name in ASSOCIATIVE and isinstance(value, list) and all(isinstance(item, dict) for item in value)


def key_of(item: Any, name: str) -> str:
    """The path element of an item of an associative list."""
    found = {key: item.get(key, _KEY_DEFAULTS.get(key)) for key in sorted(ASSOCIATIVE[name])}
    return f"k:{compact(found)}"


def compact(value: Any) -> str:
    """JSON without spaces, as path elements have it."""
    return json.dumps(value, separators=(",", ":"))


def stated(wanted: Json, subresource: str) -> Paths:
    """The fields that an applied body states: its leaves, list items and empty objects."""
    paths = flat(wanted)
    parents = {path[:-1] for path in paths if path}
    return ownable({path for path in paths if path not in parents or "".join(path[-1:]).startswith("k:")}, subresource)


def ownable(paths: Iterable[Path], subresource: str) -> Paths:
    """The paths that a writer of this subresource can own."""

    def counts(path: Path) -> bool:
        return path not in _UNOWNED and (path[0] == "f:status") == (subresource == "status")

    return frozenset(path for path in paths if counts(path))
