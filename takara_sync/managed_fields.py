"""Field ownership: read `managedFields`, and take over the fields of the Go operator. Pure.

A `fieldsV1` tree has fields as `f:<name>`, items of lists with keys as `k:<json of the keys>`, and members of
sets as `v:<json>`; `.` is the item itself. When somebody changes the value of a field, the API server removes it
from our entry, and only then. So one hash of our entry shows all drift.
https://kubernetes.io/docs/reference/using-api/server-side-apply/
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, structs

from takara_sync.objects import FIELD_MANAGER, ManagedFieldsEntry
from takara_sync.text import canonical

Tree = dict[str, Any]
Step = str | tuple[tuple[str, Any], ...]
"""One step of a path into an object: the name of a field, or the keys that identify a list item."""
Path = tuple[Step, ...]

# The fields that the Go operator wrote. The rest of its entry is server defaults, and annotations of others
# (`kubectl rollout restart`): these stay in its entry.
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

BEFORE_FIRST_APPLY = "before-first-apply"
"""The server gives this manager name to fields without an owner, at the first apply."""

LEGACY_MANAGERS = ("takara-operator", "takara-operator-local", BEFORE_FIRST_APPLY)
"""The Go operator in a cluster, the Go operator by `operator-sdk up local`, and fields without an owner."""


def own_fields(entries: Iterable[ManagedFieldsEntry]) -> Tree:
    """The fields that we own by apply; empty if we own none."""
    return next((entry.fields for entry in entries if _is_own(entry)), {})


class Owned(NamedTuple):
    """What we own by apply. time: when our last apply changed something; replicas: whether we own `spec.replicas`.

    others: the tree of the other fields. Only our own applies change the time. So it reveals an apply that was never
    recorded: such an apply owns the same fields, but may have set values for another spec.
    """

    time: str = ""
    replicas: bool = False
    others: Any = None


def owned_by_us(entries: Iterable[ManagedFieldsEntry]) -> Owned:
    """What we own by apply."""
    own = next(filter(_is_own, entries), None)
    if own is None:
        return Owned()
    fields = msgspec.json.decode(own.fields_v1)
    spec = fields.get("f:spec") if isinstance(fields, dict) else None
    replicas = spec.pop("f:replicas", None) if isinstance(spec, dict) else None
    return Owned(own.time or "", replicas is not None, fields)


def _is_own(entry: ManagedFieldsEntry) -> bool:
    return entry.manager == FIELD_MANAGER and entry.operation == "Apply" and not entry.subresource


# ------------------------------------------------------------------ who owns a field


def holders(entries: Iterable[ManagedFieldsEntry], path: Path) -> list[ManagedFieldsEntry]:
    """The entries of other managers that own the field at `path`, the latest first.

    An entry of the scale subresource has no time: it counts as the latest.
    """
    found = [entry for entry in entries if not _is_own(entry) and holds(entry.fields, path)]
    return sorted(found, key=lambda entry: (entry.time is None, entry.time or "", entry.manager), reverse=True)


def holds(tree: Tree, path: Path) -> bool:
    """Whether a fieldsV1 tree owns the field at `path`; a leaf owns everything below it."""
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
    """The keys after `k:`; None if they are no JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


# ------------------------------------------------------------------ take-over from the Go operator


def take_over(entries: Sequence[ManagedFieldsEntry], legacy: Collection[str]) -> tuple[ManagedFieldsEntry, ...] | None:
    """The `managedFields` after we took over the fields of legacy managers; None if they own no fields.

    A forced apply alone makes us a co-owner, and an apply never removes a field that another manager also owns.
    After the take-over the next apply removes the fields that only the legacy manager wanted.
    """
    if not legacy_managers_of(entries, legacy):  # the usual case; it decodes nothing
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


def legacy_managers_of(entries: Sequence[ManagedFieldsEntry], legacy: Collection[str]) -> tuple[str, ...]:
    """The legacy managers that own fields here."""
    return tuple(entry.manager for entry in entries if _is_legacy(entry, legacy))


def _is_legacy(entry: ManagedFieldsEntry, legacy: Collection[str]) -> bool:
    named = entry.manager in legacy or entry.manager == FIELD_MANAGER
    return named and entry.operation == "Update" and not entry.subresource


def split(tree: Tree, mask: Tree) -> tuple[Tree, Tree]:
    """The part of `tree` in `mask`, and the rest; a leaf of the mask includes everything below it."""
    inside: Tree = {}
    outside: Tree = {}
    for name, sub in tree.items():
        if name not in mask or (mask[name] and not sub):
            outside[name] = sub
        elif not mask[name]:
            inside[name] = sub
        else:
            taken, left = split(sub, mask[name])
            if taken and left.keys() == {"."}:  # move the parent's '.' marker when its last child moves
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
