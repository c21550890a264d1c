"""Field ownership: reading `managedFields` and handing the Go operator's fields over to us. Pure.

A `fieldsV1` tree names fields as `f:<name>`, items of keyed lists as `k:<json of the keys>`, and members of
sets as `v:<json>`; `.` is the item itself. The API server takes a field out of our entry exactly when
somebody changes its value, which is why one hash of our entry shows all drift.
https://kubernetes.io/docs/reference/using-api/server-side-apply/
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Raw, structs

from takara_sync.objects import FIELD_MANAGER, ManagedFieldsEntry

Tree = dict[str, Any]
Step = str | tuple[tuple[str, Any], ...]
"""One step of a path into an object: a field's name, or the keys that pick an item out of a list."""
Path = tuple[Step, ...]

# What the Go operator wrote. The rest of its entry is server defaults, and annotations that others put in
# (`kubectl rollout restart`): it stays where it is.
_WRITTEN_BY_THE_GO_OPERATOR: Tree = {
    "f:metadata": {"f:labels": {"f:app": {}, "f:takara_cr": {}}, "f:ownerReferences": {}},
    "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:template": {
            "f:metadata": {"f:labels": {"f:app": {}, "f:takara_cr": {}}},
            "f:spec": {"f:containers": {}},
        },
    },
}

REPLICAS: Path = ("spec", "replicas")


def canonical(value: Any) -> bytes:
    """The one JSON form of a value: keys sorted, no white space."""
    return msgspec.json.encode(value, order="sorted")


def digest(value: Any) -> str:
    """The SHA-256 of the canonical JSON of a value, in hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def own_fields(entries: Iterable[ManagedFieldsEntry]) -> Tree:
    """The fields that we hold by apply; empty where we hold none."""
    return next((entry.fields for entry in entries if _is_own(entry)), {})


def own_time(entries: Iterable[ManagedFieldsEntry]) -> str:
    """When an apply of ours changed something last; empty where that is not known.

    Only our own applies move it, so it shows one that was never recorded: the fields that we hold are then the same,
    but their values may be those of another desire.
    """
    return next((entry.time or "" for entry in entries if _is_own(entry)), "")


def _is_own(entry: ManagedFieldsEntry) -> bool:
    return entry.manager == FIELD_MANAGER and entry.operation == "Apply" and not entry.subresource


def with_replicas(tree: Tree) -> Tree:
    """The tree with `spec.replicas` in it."""
    return union(tree, {"f:spec": {"f:replicas": {}}})


def without_replicas(tree: Tree) -> Tree:
    """The tree with `spec.replicas` taken out."""
    return split(tree, {"f:spec": {"f:replicas": {}}})[1]


# ------------------------------------------------------------------ who holds a field


def holders(entries: Iterable[ManagedFieldsEntry], path: Path) -> list[ManagedFieldsEntry]:
    """The entries of others that hold the field at `path`, the latest first.

    An entry of the scale subresource carries no time: it counts as the latest.
    """
    found = [entry for entry in entries if not _is_own(entry) and holds(entry.fields, path)]
    return sorted(found, key=lambda entry: (entry.time is None, entry.time or "", entry.manager), reverse=True)


def holds(tree: Tree, path: Path) -> bool:
    """Whether a fieldsV1 tree holds the field at `path`; a leaf holds everything below it."""
    for depth, step in enumerate(path):
        if depth and not tree:
            return True
        branch = _branch(tree, step)
        if branch is None:
            return False
        tree = branch
    return True


def _branch(tree: Tree, step: Step) -> Tree | None:
    if isinstance(step, str):
        return tree.get(f"f:{step}")
    wanted = dict(step)
    return next((sub for name, sub in tree.items() if name.startswith("k:") and _matches(name[2:], wanted)), None)


def _matches(keys: str, wanted: dict[str, Any]) -> bool:
    found = decoded(keys)
    return isinstance(found, dict) and all(found.get(name) == value for name, value in wanted.items())


def decoded(text: str) -> Any:
    """The keys behind a `k:`, None where they are no JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


# ------------------------------------------------------------------ take-over from the Go operator


def take_over(entries: Sequence[ManagedFieldsEntry], legacy: Collection[str]) -> tuple[ManagedFieldsEntry, ...] | None:
    """The `managedFields` after handing a legacy manager's fields to us; None where none is held.

    A forced apply alone makes us co-owner, and what two managers own never goes away again. Handing
    over first makes the next apply remove what only the legacy manager had asked for.
    """
    if not any(_is_legacy(entry, legacy) for entry in entries):  # nearly always: nothing is decoded for it
        return None
    moved: Tree = {}
    kept: list[ManagedFieldsEntry] = []
    for entry in entries:
        legacy_entry = _is_legacy(entry, legacy)
        ours, rest = split(entry.fields, _WRITTEN_BY_THE_GO_OPERATOR) if legacy_entry else ({}, entry.fields)
        moved = union(moved, ours)
        if rest and not _is_own(entry):
            kept.append(structs.replace(entry, fields_v1=Raw(canonical(rest))) if ours else entry)
    if not moved:
        return None
    own = next((entry for entry in entries if _is_own(entry)), None)
    time = own.time if own else max((entry.time for entry in entries if entry.time), default=None)
    fields = Raw(canonical(union(own.fields if own else {}, moved)))
    return (ManagedFieldsEntry(FIELD_MANAGER, "Apply", "apps/v1", time, "FieldsV1", fields), *kept)


def _is_legacy(entry: ManagedFieldsEntry, legacy: Collection[str]) -> bool:
    named = entry.manager in legacy or entry.manager == FIELD_MANAGER
    return named and entry.operation == "Update" and not entry.subresource


def split(tree: Tree, mask: Tree) -> tuple[Tree, Tree]:
    """The part of `tree` under `mask`, and the rest; a leaf of the mask takes everything below it."""
    inside: Tree = {}
    outside: Tree = {}
    for name, sub in tree.items():
        if name not in mask or (mask[name] and not sub):
            outside[name] = sub
        elif not mask[name]:
            inside[name] = sub
        else:
            taken, left = split(sub, mask[name])
            if taken and left.keys() == {"."}:  # the map itself goes with the last of what is in it
                taken, left = taken | left, {}
            inside |= {name: taken} if taken else {}
            outside |= {name: left} if left else {}
    return inside, outside


def union(one: Tree, other: Tree) -> Tree:
    """Both trees in one."""
    merged = dict(one)
    for name, sub in other.items():
        merged[name] = union(merged[name], sub) if name in merged else sub
    return merged
