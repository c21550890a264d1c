"""What an apply will change: field by field, from what to what, and who had set it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Raw, Struct

from takara_sync.fields import Path, Step, Tree, canonical, decoded, holders, own_fields
from takara_sync.objects import ManagedFieldsEntry

# The keys by which the lists of a Deployment are merged (x-kubernetes-list-map-keys); other lists are atomic.
_LIST_KEYS: dict[Step, tuple[str, ...]] = {
    "ownerReferences": ("uid",),
    "containers": ("name",),
    "initContainers": ("name",),
    "env": ("name",),
    "ports": ("containerPort", "protocol"),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "volumes": ("name",),
    "imagePullSecrets": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "schedulingGates": ("name",),
    "resourceClaims": ("name",),
    "claims": ("name",),
}


class Change(Struct, frozen=True):
    """One field that an apply will bring back: its live and its wanted value, and who holds it now."""

    field: str
    old: Any
    new: Any
    manager: str = ""
    time: str = ""
    subresource: str = ""


def changes(desired: Tree, live: Tree, entries: Sequence[ManagedFieldsEntry]) -> tuple[Change, ...]:
    """The fields of `desired` whose live value differs, each with who holds it now. Sorted by field."""
    found = []
    for path, new in leaves(desired):
        old = value_at(live, path)
        if canonical(old) != canonical(new):
            found.append(_change(path, old, new, entries))
    return tuple(sorted(found, key=lambda change: change.field))


def _change(path: Path, old: Any, new: Any, entries: Sequence[ManagedFieldsEntry]) -> Change:
    holder = next(iter(holders(entries, path)), ManagedFieldsEntry())
    return Change(dotted(path), old, new, holder.manager, holder.time or "", holder.subresource)


def removals(
    desired: Tree, live: Tree, entries: Sequence[ManagedFieldsEntry], before: Sequence[ManagedFieldsEntry] = ()
) -> tuple[Change, ...]:
    """The fields that an apply of `desired` takes away: we alone hold them, and `desired` no longer asks for them.

    `before`: the entries before a take-over, which tell who had asked for them.
    """
    gone: dict[Path, Change] = {}
    for path in _paths(own_fields(entries)):
        old = value_at(live, path)
        kept = old in (None, {}, []) or path[-1] in _DEFAULTED or value_at(desired, path) is not None
        told = any(path[:length] in gone for length in range(len(path)))
        if not kept and not told and not holders(entries, path):
            gone[path] = _change(path, old, None, before)
    return tuple(gone.values())


def before_first_apply(live: Tree) -> ManagedFieldsEntry:
    """The entry that the server makes of an object without managedFields at its first apply: everything it holds.

    https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply
    """
    fields = Raw(canonical(_fields_of(live, ())))
    return ManagedFieldsEntry("before-first-apply", "Update", "apps/v1", None, "FieldsV1", fields)


def _fields_of(value: Any, path: Path) -> Tree:
    if isinstance(value, dict):
        return {f"f:{name}": _fields_of(item, (*path, name)) for name, item in value.items() if item is not None}
    if keys := _list_keys(value, path):
        picked = [({name: item[name] for name in keys if name in item}, item) for item in value]
        return {f"k:{canonical(one).decode()}": {".": {}} | _fields_of(item, path) for one, item in picked}
    return {}


# What the API server fills into a container when it is taken away: as if it had never been asked for.
_DEFAULTED = frozenset({"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "protocol"})


def _paths(tree: Tree, path: Path = ()) -> Iterator[Path]:
    """Every path of a fieldsV1 tree, that of a field before those of what is in it."""
    for name, sub in tree.items():
        kind, _, rest = name.partition(":")
        if kind == "f":
            deeper = (*path, rest)
        elif kind == "k" and isinstance(keys := decoded(rest), dict) and _tell_apart(keys):
            deeper = (*path, tuple(sorted(keys.items())))
        else:
            continue
        yield deeper
        yield from _paths(sub, deeper)


def _tell_apart(keys: Tree) -> bool:
    """Whether these can pick an item out of a list: the values of keys are plain."""
    return all(isinstance(value, str | int) for value in keys.values())


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf of a body with its path. A list without keyed items is a leaf of its own."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif keys := _list_keys(value, path):
        for item in value:
            yield from leaves(item, (*path, tuple((name, item[name]) for name in keys if name in item)))
    else:
        yield path, value


def _list_keys(value: Any, path: Path) -> tuple[str, ...] | None:
    """The keys that tell the items of the list at `path` apart, None where it is no such list."""
    keys = _LIST_KEYS.get(path[-1]) if path else None
    if keys is None or not isinstance(value, list) or not value:
        return None
    return keys if all(isinstance(item, dict) and keys[0] in item for item in value) else None


def value_at(value: Any, path: Path) -> Any:
    """The value at `path`, None where there is nothing."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            items = value if isinstance(value, list) else []
            value = next((item for item in items if _is(item, step)), None)
    return value


def _is(item: Any, keys: tuple[tuple[str, Any], ...]) -> bool:
    """Whether these keys pick this item; the server fills in a port's protocol, a body need not name it."""
    return isinstance(item, dict) and all(({"protocol": "TCP"} | item).get(key) == value for key, value in keys)


def dotted(path: Path) -> str:
    """A path as people write it: `spec.template.spec.containers[takara].image`."""
    text = ""
    for step in path:
        text += f".{step}" if isinstance(step, str) else f"[{','.join(str(value) for _, value in step)}]"
    return text.removeprefix(".")
