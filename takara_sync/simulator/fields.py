"""Who owns which field: the sets of fields in managedFields, and how an update and an apply change them. Pure.

After structured-merge-diff and apimachinery's `managedfields`. A set of fields is a set of paths; a path is a tuple of
the elements of fieldsV1: `f:spec`, `k:{"name":"takara"}`, `v:"a value of a set"`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from takara_sync.list_keys import ATOMIC, ATOMIC_ITEMS, KEY_DEFAULTS, KEYS, SETS
from takara_sync.simulator.kinds import Json

Path = tuple[str, ...]
Paths = frozenset[Path]

_WHOLE_ITEMS = {(f"f:{name}",) for name in ATOMIC_ITEMS}
SYSTEM = (  # metadata that the server keeps
    *("name", "namespace", "uid", "selfLink", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
)
_UNOWNED = {(), ("f:apiVersion",), ("f:kind",), ("f:metadata",)}
_UNOWNED |= {("f:metadata", f"f:{name}") for name in (*SYSTEM, "managedFields")}


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


def decode(managed_fields: Iterable[Json]) -> list[Entry]:
    """The entries of an object. Raises KeyError, TypeError or AttributeError where one is malformed."""
    found = []
    for item in managed_fields:
        entry = Entry(item["manager"], item["operation"], item["apiVersion"], item.get("subresource", ""))
        found.append(replace(entry, time=item.get("time"), paths=frozenset(_members(item["fieldsV1"], ()))))
    return found


def encode(entries: Iterable[Entry]) -> list[Json]:
    """managedFields, in the real server's order; entries that own nothing are dropped."""
    owning = (entry for entry in entries if entry.paths)
    return [_entry(one) for one in sorted(owning, key=lambda one: (one.operation, one.time or "", *one.ident))]


def _entry(entry: Entry) -> Json:
    identity = {"manager": entry.manager, "operation": entry.operation, "apiVersion": entry.api_version}
    found = {**identity, "time": entry.time, "subresource": entry.subresource, "fieldsType": "FieldsV1"}
    return {key: item for key, item in found.items() if item} | {"fieldsV1": _fields_v1(entry.paths)}


def _members(node: Mapping[str, Any], path: Path) -> Iterable[Path]:
    if path and (not node or "." in node):
        yield path
    for name, below in node.items():
        if name != ".":
            yield from _members(below, (*path, name))


def _fields_v1(paths: Paths) -> Json:
    nodes = {path[:depth] for path in paths for depth in range(len(path))}
    root: Json = {}
    for path in sorted(paths):
        node = root
        for element in path:
            node = node.setdefault(element, {})
        if path in nodes:
            node["."] = {}
    return root


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _parts(value: Any, path: Path) -> dict[str, Any] | None:
    """The parts of the object or list at this path, by path element; None where it has one owner."""
    name = path[-1][2:] if path else ""
    if isinstance(value, dict) and name not in ATOMIC and path[-2:-1] not in _WHOLE_ITEMS:
        return {f"f:{key}": item for key, item in value.items()}
    if isinstance(value, list) and name in KEYS and all(isinstance(item, dict) for item in value):
        keys = sorted(KEYS[name])
        return {f"k:{_compact({key: item.get(key, KEY_DEFAULTS.get(key)) for key in keys})}": item for item in value}
    if isinstance(value, list) and name in SETS:
        return {f"v:{_compact(item)}": item for item in value}
    return None


def _whole(parts: dict[str, Any], like: Any) -> Any:
    """The object or list of these parts."""
    return [*parts.values()] if isinstance(like, list) else {element[2:]: item for element, item in parts.items()}


def flat(value: Any, path: Path = ()) -> dict[Path, Any]:
    """Every path of an object with its value; what has parts has a path of its own, with `...` as its value."""
    if (parts := _parts(value, path)) is None:
        return {path: value}
    found: dict[Path, Any] = {path: ...}
    for element, item in parts.items():
        found |= flat(item, (*path, element))
    return found


def changed(old: Json, new: Json) -> tuple[set[Path], set[Path]]:
    """(Paths that were added or have another value, paths that are gone)."""
    before, after = flat(old), flat(new)
    touched = {path for path, value in after.items() if path not in before or before[path] != value}
    return touched, set(before) - set(after)


def updated(entries: list[Entry], old: Json, new: Json, writer: Entry) -> list[Entry]:
    """The entries after a write that is no apply: the writer alone owns what changed."""
    touched, gone = changed(old, new)
    found = {entry.ident: replace(entry, paths=entry.paths - touched - gone) for entry in entries}
    if mine := _taken(touched, entries, new, writer):
        found[writer.ident] = replace(writer, paths=found.get(writer.ident, writer).paths | mine)
    return list(found.values())


def _taken(touched: set[Path], before: list[Entry], new: Json, writer: Entry) -> Paths:
    mine = _ownable(touched, writer.subresource)
    if writer.subresource == "scale":
        # A Scale of 0 has no replicas field, so nobody owns it; and nobody starts to where nobody did.
        held = frozenset[Path]().union(*(entry.paths for entry in before))
        values = flat(new)
        return frozenset(path for path in mine & held if values[path])
    return mine


def applied(
    entries: list[Entry], live: Json, wanted: Json, writer: Entry
) -> tuple[Json, list[Entry], list[tuple[Entry, Path]]]:
    """The object and its entries after a server-side apply, and (entry, path) for each field taken from another."""
    found = {entry.ident: entry for entry in entries}
    last = found.pop(writer.ident, replace(writer, paths=frozenset()))
    mine = replace(writer, paths=_stated(wanted, writer.subresource))
    kept = mine.paths.union(*(entry.paths for entry in found.values()))
    result = without(merge(live, wanted), _with_fields_above(last.paths) - _with_fields_above(kept))
    touched, gone = changed(live, result)
    lost = [(entry, path) for entry in found.values() for path in sorted(entry.paths & touched)]
    others = [replace(entry, paths=entry.paths - touched - gone) for entry in found.values()]
    return result, [*others, mine], lost


def _with_fields_above(paths: Paths) -> Paths:
    """The paths and the fields around them; whoever owns a part of a list item does not own the item."""
    above = {path[:depth] for path in paths for depth in range(1, len(path))}
    return paths | {path for path in above if path[-1].startswith("f:")}


def _stated(wanted: Json, subresource: str) -> Paths:
    """The fields of an applied object: its leaves, list items and empty objects."""
    paths = flat(wanted)
    parents = {path[:-1] for path in paths if path}
    return _ownable((path for path in paths if path not in parents or "".join(path[-1:]).startswith("k:")), subresource)


def _ownable(paths: Iterable[Path], subresource: str) -> Paths:
    """The paths that a writer of this subresource can own."""
    wanted = (path for path in paths if path not in _UNOWNED)
    return frozenset(path for path in wanted if (path[0] == "f:status") == (subresource == "status"))


def merge(live: Any, wanted: Any, path: Path = ()) -> Any:
    """`wanted` laid over `live`: objects by field, lists by their keys, the rest replaced."""
    ours, theirs = _parts(wanted, path), _parts(live, path)
    if ours is None or theirs is None:
        return wanted
    laid = {element: merge(theirs.get(element), item, (*path, element)) for element, item in ours.items()}
    return _whole(theirs | laid, wanted)


def without(value: Any, gone: Paths, path: Path = ()) -> Any:
    """The value without these paths and what is below them, and without what that leaves empty."""
    parts = _parts(value, path)
    if parts is None:
        return value
    rest = {element: without(item, gone, (*path, element)) for element, item in parts.items()}
    kept = {element: item for element, item in rest.items() if item not in ({}, []) or item == parts[element]}
    return _whole({element: item for element, item in kept.items() if (*path, element) not in gone}, value)
