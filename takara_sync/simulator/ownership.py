"""Who owns which field: what an update and a server-side apply do to an object and to its entries.

After structured-merge-diff (`merge/update.go`) and apimachinery's `managedfields`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from takara_sync.simulator.fieldsets import (
    ATOMIC,
    SETS,
    Entry,
    Json,
    Path,
    Paths,
    compact,
    flat,
    is_associative,
    key_of,
    ownable,
    stated,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

BEFORE_FIRST_APPLY = "before-first-apply"


class Contested(Exception):
    """An apply without force meets fields of others: (the other's entry, the path) of each."""

    def __init__(self, fields: list[tuple[Entry, Path]]) -> None:
        super().__init__("conflict")
        self.fields = fields


def changed(old: Json, new: Json) -> tuple[set[Path], set[Path]]:
    """(Paths that were added or have another value, paths that are gone)."""
    before, after = flat(old), flat(new)
    touched = {path for path, value in after.items() if path not in before or before[path] != value}
    return touched, set(before) - set(after)


def updated(entries: Iterable[Entry], old: Json, new: Json, writer: Entry) -> list[Entry]:
    """The entries after a write that is no apply: what changed belongs to the writer, and to nobody else."""
    before = list(entries)
    touched, gone = changed(old, new)
    found = {entry.ident: replace(entry, paths=entry.paths - touched - gone) for entry in before}
    if mine := _taken(touched, before, new, writer):
        last = found.get(writer.ident, writer).paths
        found[writer.ident] = replace(writer, paths=last | mine)
    return list(found.values())


def _taken(touched: set[Path], before: list[Entry], new: Json, writer: Entry) -> Paths:
    if writer.subresource == "status":
        # The status of a Deployment is written with its annotations (the revision), which the writer then owns.
        beside = {path for path in touched if path[:2] == ("f:metadata", "f:annotations")}
        return ownable(touched, "status") | beside
    mine = ownable(touched, "")
    if writer.subresource == "scale":
        # A Scale of 0 has no replicas field, so nobody owns it; and nobody starts to where nobody did.
        held = frozenset[Path]().union(*(entry.paths for entry in before))
        values = flat(new)
        return frozenset(path for path in mine & held if values[path])
    return mine


def applied(entries: list[Entry], live: Json, wanted: Json, writer: Entry, *, force: bool) -> tuple[Json, list[Entry]]:
    """The object and its entries after a server-side apply.

    Raises Contested without `force` where a field of another manager would get another value.
    """
    found = {entry.ident: entry for entry in entries}
    last = found.pop(writer.ident, replace(writer, paths=frozenset()))
    mine = replace(writer, paths=stated(wanted, writer.subresource))
    merged = merge(live, wanted)
    kept = mine.paths.union(*(entry.paths for entry in found.values()))
    result = without(merged, last.paths - _needed(kept))
    touched, gone = changed(live, result)
    lost = [(entry, path) for entry in found.values() for path in sorted(entry.paths & touched)]
    if lost and not force:
        raise Contested(lost)
    others = [replace(entry, paths=entry.paths - touched - gone) for entry in found.values()]
    return result, [*others, mine]


def _needed(paths: Paths) -> Paths:
    """The paths and the fields that they lie in; a list item stays only where somebody owns the item itself."""
    parents = {path[:depth] for path in paths for depth in range(1, len(path))}
    return paths | {path for path in parents if path[-1].startswith("f:")}


def merge(live: Any, wanted: Any, name: str = "") -> Any:
    """`wanted` laid over `live`: objects by field, lists by their keys, the rest replaced."""
    if isinstance(live, dict) and isinstance(wanted, dict) and name not in ATOMIC:
        return {**live, **{key: merge(live.get(key), item, key) for key, item in wanted.items()}}
    if is_associative(live, name) and is_associative(wanted, name):
        items = {key_of(item, name): item for item in live}
        for item in wanted:
            key = key_of(item, name)
            items[key] = item if name == "ownerReferences" else merge(items.get(key), item)
        return list(items.values())
    if isinstance(live, list) and isinstance(wanted, list) and name in SETS:
        return [*live, *(item for item in wanted if item not in live)]
    return wanted


def without(value: Any, paths: Iterable[Path]) -> Any:
    """A copy of `value` without the paths and what is below them, and without what that leaves empty."""
    kept = json.loads(json.dumps(value))
    for path in sorted(paths):
        _remove(kept, path, "")
    return kept


def _remove(holder: Any, path: Path, name: str) -> None:
    index = _position(holder, path[0], name)
    if index is None:
        return
    if len(path) > 1:
        _remove(holder[index], path[1:], path[0][2:])
    if len(path) == 1 or holder[index] in ({}, []):
        del holder[index]


def _position(holder: Any, element: str, name: str) -> Any:
    if isinstance(holder, dict):
        return element[2:] if element[2:] in holder else None
    if not isinstance(holder, list):
        return None
    found = [key_of(item, name) if is_associative(holder, name) else f"v:{compact(item)}" for item in holder]
    return found.index(element) if element in found else None
