"""Who owns which field: the sets of fields in managedFields, and how an update and an apply change them. Pure.

After structured-merge-diff and apimachinery's `managedfields`. A set of fields is a set of paths; a path is a tuple of
the elements of fieldsV1: `f:spec`, `k:{"name":"takara"}`, `v:"a value of a set"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from takara_sync.simulator.patches import Path, merge, parts, whole
from takara_sync.simulator.wire import Json

Paths = frozenset[Path]

SYSTEM = (  # metadata that the server keeps
    *("name", "namespace", "uid", "selfLink", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
)
_UNOWNED = {
    *((), ("f:apiVersion",), ("f:kind",), ("f:metadata",)),
    *(("f:metadata", f"f:{name}") for name in (*SYSTEM, "managedFields")),
}
_TEXTS = ("manager", "operation", "apiVersion", "subresource", "time")


class Entry(NamedTuple):
    """One entry of managedFields."""

    manager: str
    operation: str
    api_version: str
    subresource: str = ""
    time: str = ""
    paths: Paths = frozenset()

    @property
    def ident(self) -> tuple[str, ...]:
        """What makes two entries the same one."""
        return self[:4]


def decode(managed_fields: Iterable[Json]) -> list[Entry]:
    """The entries of an object that own something."""
    found = (
        Entry._make([*(item.get(key, "") for key in _TEXTS), frozenset(_members(item.get("fieldsV1", {})))])
        for item in managed_fields
    )
    return [entry for entry in found if entry.paths]


def _members(node: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    if path and (not node or "." in node):
        yield path
    for name, below in node.items():
        if name != ".":
            yield from _members(below, (*path, name))


def encode(entries: Iterable[Entry]) -> list[Json]:
    """managedFields, in the real server's order; entries that own nothing are dropped."""
    owning = sorted((one for one in entries if one.paths), key=lambda one: (one.operation, one.time, *one.ident))
    return [
        {key: text for key, text in zip(_TEXTS, one, strict=False) if text}
        | {"fieldsType": "FieldsV1", "fieldsV1": _tree(one.paths)}
        for one in owning
    ]


def _tree(paths: Paths) -> Json:
    root: Json = {}
    for path in sorted(paths):
        node = root
        for depth, element in enumerate(path):
            if depth and path[:depth] in paths:
                node["."] = {}
            node = node.setdefault(element, {})
    return root


def flat(value: Any, path: Path = (), unlike: Any = ...) -> dict[Path, Any]:
    """Every path of an object with its value; what has parts has a path of its own, with `...` as its value.

    unlike: another version of the value; what both have in common is left out.
    """
    if value == unlike:
        return {}
    if (divided := parts(value, path)) is None:
        return {path: value}
    others = parts(unlike, path) or {}
    found: dict[Path, Any] = {path: ...}
    for element, item in divided.items():
        found |= flat(item, (*path, element), others.get(element, ...))
    return found


def changed(old: Json, new: Json) -> tuple[set[Path], set[Path]]:
    """(Paths that were added or have another value, paths that are gone)."""
    before, after = flat(old, unlike=new), flat(new, unlike=old)
    touched = {path for path, value in after.items() if path not in before or before[path] != value}
    return touched, before.keys() - after.keys()


def updated(entries: list[Entry], old: Json, new: Json, writer: Entry) -> list[Entry]:
    """The entries after a write that is no apply: the writer alone owns what changed."""
    touched, gone = changed(old, new)
    found = {entry.ident: entry._replace(paths=entry.paths - touched - gone) for entry in entries}
    mine = _ownable(touched, writer.subresource)
    if writer.subresource == "scale":
        # A Scale of 0 has no replicas field, so nobody owns it; and nobody starts to where nobody did.
        values = flat(new)
        mine = frozenset(path for path in mine if values[path] and any(path in entry.paths for entry in entries))
    if mine:
        found[writer.ident] = writer._replace(paths=found.get(writer.ident, writer).paths | mine)
    return list(found.values())


def applied(
    live: Json, wanted: Json, unowned: Json, writer: Entry
) -> tuple[Json, list[Entry], list[tuple[Entry, Path]]]:
    """The object and its entries after a server-side apply, and (entry, path) for each field taken from another.

    live: empty where there is none. unowned: what nobody owns of an object that has no entries before its first apply.
    """
    entries = decode(live["metadata"].get("managedFields", [])) if live else []
    if live and not entries:
        entries = updated([], unowned, live, writer._replace(manager="before-first-apply", operation="Update"))
    found = {entry.ident: entry for entry in entries}
    last = found.pop(writer.ident, writer)
    mine = writer._replace(paths=_stated(wanted, writer.subresource))
    kept = mine.paths.union(*(entry.paths for entry in found.values()))
    result = without(merge(live, wanted), _with_fields_above(last.paths) - _with_fields_above(kept) - _UNOWNED)
    touched, gone = changed(live, result)
    lost = [(entry, path) for entry in found.values() for path in sorted(entry.paths & touched)]
    others = [entry._replace(paths=entry.paths - touched - gone) for entry in found.values()]
    return result, [*others, mine], lost


def _with_fields_above(paths: Paths) -> Paths:
    """The paths and the fields around them; whoever owns a part of a list item does not own the item."""
    above = {path[:depth] for path in paths for depth in range(1, len(path))}
    return paths | {path for path in above if path[-1].startswith("f:")}


def _stated(wanted: Json, subresource: str) -> Paths:
    """The fields of an applied object: its leaves, list items and empty objects."""
    paths = flat(wanted)
    parents = {path[:-1] for path in paths if path}
    ends = (path for path in paths if path and (path not in parents or path[-1].startswith("k:")))
    return _ownable(ends, subresource)


def _ownable(paths: Iterable[Path], subresource: str) -> Paths:
    """The paths that a writer of this subresource can own."""
    wanted = (path for path in paths if path not in _UNOWNED)
    return frozenset(path for path in wanted if (path[0] == "f:status") == (subresource == "status"))


def without(value: Any, gone: Paths, path: Path = ()) -> Any:
    """The value without these paths and what is below them."""
    divided = parts(value, path) if gone else None
    if divided is None:
        return value
    places = {element: (*path, element) for element in divided if (*path, element) not in gone}
    return whole({element: without(divided[element], gone, place) for element, place in places.items()}, value)
