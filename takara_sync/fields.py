"""Field ownership: reading `managedFields` and handing the Go operator's fields over to us. Pure.

A `fieldsV1` tree names fields as `f:<name>`, items of keyed lists as `k:<json of the keys>`, and members of
sets as `v:<json>`; `.` is the item itself. The API server takes a field out of our entry exactly when
somebody changes its value, which is why one hash of our entry shows all drift.
https://kubernetes.io/docs/reference/using-api/server-side-apply/
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from takara_sync.objects import FIELD_MANAGER, ManagedFieldsEntry

Tree = dict[str, Any]
Step = str | tuple[tuple[str, Any], ...]
"""One step of a path into an object: a field's name, or the keys that pick an item out of a list."""
Path = tuple[Step, ...]

# The keys by which the lists of a Deployment are merged (x-kubernetes-list-map-keys), likeliest first.
_LIST_KEYS = (("name",), ("uid",), ("containerPort", "protocol"), ("mountPath",), ("devicePath",), ("ip",))

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


class Change(Struct, frozen=True):
    """One field that an apply will bring back: its live and its wanted value, and who holds it now."""

    field: str
    old: Any
    new: Any
    manager: str = ""
    time: str = ""
    subresource: str = ""


def canonical(value: Any) -> bytes:
    """The one JSON form of a value: keys sorted, no white space."""
    return msgspec.json.encode(value, order="sorted")


def digest(value: Any) -> str:
    """The SHA-256 of the canonical JSON of a value, in hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def own_fields(entries: Iterable[ManagedFieldsEntry]) -> Tree:
    """The fields that we hold by apply; empty where we hold none."""
    return next((entry.fields for entry in entries if _is_own(entry)), {})


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
    found = [entry for entry in entries if not _is_own(entry) and _holds(entry.fields, path)]
    return sorted(found, key=lambda entry: (entry.time is None, entry.time or "", entry.manager), reverse=True)


def _holds(tree: Any, path: Path) -> bool:
    for step in path:
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
    try:
        found = msgspec.json.decode(keys)
    except msgspec.DecodeError:
        return False
    return isinstance(found, dict) and all(found.get(name) == value for name, value in wanted.items())


# ------------------------------------------------------------------ what an apply will change


def changes(desired: Tree, live: Tree, entries: Sequence[ManagedFieldsEntry]) -> tuple[Change, ...]:
    """The fields of `desired` whose live value differs, each with who holds it now. Sorted by field."""
    found = []
    for path, new in leaves(desired):
        old = value_at(live, path)
        if canonical(old) != canonical(new):
            holder = next(iter(holders(entries, path)), ManagedFieldsEntry())
            found.append(Change(dotted(path), old, new, holder.manager, holder.time or "", holder.subresource))
    return tuple(sorted(found, key=lambda change: change.field))


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf of a body with its path. A list without keyed items is a leaf of its own."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif keys := _list_keys(value):
        for item in value:
            yield from leaves(item, (*path, tuple((name, item[name]) for name in keys if name in item)))
    else:
        yield path, value


def _list_keys(value: Any) -> tuple[str, ...] | None:
    """The keys that tell the items of a list apart, None where it is no such list."""
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        return None
    return next((keys for keys in _LIST_KEYS if all(keys[0] in item for item in value)), None)


def value_at(value: Any, path: Path) -> Any:
    """The value at `path`, None where there is nothing."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            items = value if isinstance(value, list) else []
            value = next((i for i in items if isinstance(i, dict) and dict(step).items() <= i.items()), None)
    return value


def dotted(path: Path) -> str:
    """A path as people write it: `spec.template.spec.containers[takara].image`."""
    text = ""
    for step in path:
        text += f".{step}" if isinstance(step, str) else f"[{','.join(str(value) for _, value in step)}]"
    return text.removeprefix(".")


# ------------------------------------------------------------------ take-over from the Go operator


def take_over(entries: Sequence[ManagedFieldsEntry], legacy: Collection[str]) -> list[Tree] | None:
    """The `managedFields` after handing a legacy manager's fields to us; None where none is held.

    A forced apply alone makes us co-owner, and what two managers own never goes away again. Handing
    over first makes the next apply remove what only the legacy manager had asked for.
    """
    moved: Tree = {}
    kept: list[Tree] = []
    for entry in entries:
        ours, rest = (
            split(entry.fields, _WRITTEN_BY_THE_GO_OPERATOR) if _is_legacy(entry, legacy) else ({}, entry.fields)
        )
        moved = union(moved, ours)
        if rest and not _is_own(entry):
            kept.append(_as_body(entry, rest))
    if not moved:
        return None
    own = next((entry for entry in entries if _is_own(entry)), None)
    times = [entry.time for entry in entries if entry.time]
    shell = ManagedFieldsEntry(FIELD_MANAGER, "Apply", "apps/v1", own.time if own else max(times, default=None))
    return [_as_body(shell, union(own.fields if own else {}, moved)), *kept]


def _is_legacy(entry: ManagedFieldsEntry, legacy: Collection[str]) -> bool:
    named = entry.manager in legacy or entry.manager == FIELD_MANAGER
    return named and entry.operation == "Update" and not entry.subresource


def _as_body(entry: ManagedFieldsEntry, fields: Tree) -> Tree:
    body: Tree = {
        "manager": entry.manager,
        "operation": entry.operation,
        "apiVersion": entry.api_version,
        "fieldsType": entry.fields_type,
        "fieldsV1": fields,
    }
    extra = {"time": entry.time, "subresource": entry.subresource}
    return body | {name: value for name, value in extra.items() if value}


def split(tree: Tree, mask: Tree) -> tuple[Tree, Tree]:
    """The part of `tree` under `mask`, and the rest; a leaf of the mask takes everything below it."""
    inside: Tree = {}
    outside: Tree = {}
    for name, sub in tree.items():
        if name not in mask:
            outside[name] = sub
        elif not mask[name]:
            inside[name] = sub
        else:
            taken, left = split(sub, mask[name])
            inside |= {name: taken} if taken else {}
            outside |= {name: left} if left.keys() - {"."} else {}
    return inside, outside


def union(one: Tree, other: Tree) -> Tree:
    """Both trees in one."""
    merged = dict(one)
    for name, sub in other.items():
        merged[name] = union(merged[name], sub) if name in merged else sub
    return merged
