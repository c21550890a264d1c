"""The changes that an apply makes: each field, its old and new value, and the manager that had set it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Raw, Struct, structs

from takara_sync.list_keys import KEY_DEFAULTS, KEYS
from takara_sync.managed_fields import BEFORE_FIRST_APPLY, REPLICAS, Path, Tree, decoded, holders, own_fields
from takara_sync.objects import FORMAT_ANNOTATION, ManagedFieldsEntry
from takara_sync.text import canonical


class Change(Struct, frozen=True):
    """One field that an apply changes: the old and new value, and the other manager that owns it now."""

    field: str
    old: Any
    new: Any
    manager: str = ""
    time: str = ""
    subresource: str = ""


def changes(wanted: Tree, live: Tree, entries: Sequence[ManagedFieldsEntry]) -> tuple[Change, ...]:
    """The fields of `wanted` whose live value differs, each with the manager that owns it now. Sorted by field."""
    found = [_change(path, old, new, entries) for path, old, new in _differences(wanted, live)]
    return tuple(sorted(found, key=lambda change: change.field))


def _differences(wanted: Tree, live: Tree) -> Iterator[tuple[Path, Any, Any]]:
    """Path, live value and wanted value of each leaf of `wanted` that differs."""
    for path, new in leaves(wanted):
        old = value_at(live, path)
        if not same_value(new, old, dotted(path)):
            yield path, old, new


_FORMAT: Path = ("metadata", "annotations", FORMAT_ANNOTATION)
"""No reason to block a Takara: the record has the format too."""


def changed_on_admission(wanted: Tree, live: Tree) -> str:
    """The first field of `wanted` that an apply returned with another value; empty if there is none."""
    differing = ((path, old, new) for path, old, new in _differences(wanted, live) if path != _FORMAT)
    found = ((path, old, new) for path, old, new in differing if not _is_unset(path, new))
    return min((dotted(path) for path, old, new in found if not _contains(old, new, dotted(path))), default="")


def _is_unset(path: Path, wanted: Any) -> bool:
    """Whether the server treats this value as unset and may default it: an empty string, or 0."""
    return path != REPLICAS and not isinstance(wanted, bool) and wanted in ("", 0)


def _contains(live: Any, wanted: Any, field: str) -> bool:
    """Whether `live` equals `wanted`, apart from defaults that the server added."""
    if isinstance(wanted, dict) and isinstance(live, dict):
        return all(_contains(live.get(key), value, f"{field}.{key}") for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(live, list):
        return len(wanted) == len(live) and all(_contains(*pair, field) for pair in zip(live, wanted, strict=True))
    return same_value(wanted, live, field)


def made_changes(expected: Sequence[Change], live: Tree, *, exact: bool = False) -> tuple[Change, ...]:
    """The expected changes that the apply really made, each with the value that the server returned.

    exact: without those to another value, because they are not the result of this apply.
    """
    values = {dotted(path): value for path, value in leaves(live)}
    made = []
    for change in expected:
        parts = (f"{change.field}.", f"{change.field}[")
        whole = change.field in values or not any(field.startswith(parts) for field in values)
        new = values.get(change.field) if whole else change.old
        unexpected = exact and not same_value(change.new, new, change.field)
        if not unexpected and not same_value(change.old, new, change.field):
            made.append(structs.replace(change, new=new))
    return tuple(made)


def same_value(wanted: Any, live: Any, field: str) -> bool:
    """Whether the server treats both as the same value: it omits empty values, and it normalizes quantities."""
    if canonical(wanted) == canonical(live):
        return True
    if live is None:
        return not wanted
    return bool(_QUANTITY_FIELD.search(field)) and quantity(wanted) == quantity(live) is not None


def quantity(value: Any) -> Decimal | None:
    """The amount of a quantity such as `500m`, `1Gi`, `0.5` or `2`; None if the value is no quantity.

    https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    """
    match = _QUANTITY.fullmatch(str(value))
    if match is None or isinstance(value, bool):
        return None
    number, suffix = match.groups()
    if suffix[:1] in ("e", "E") and suffix[1:]:
        return Decimal(number + suffix)
    base, power = _SUFFIXES[suffix]
    return Decimal(number) * Decimal(base) ** power


# In other fields, such as the value of an environment variable, "0755" and "755" differ.
_QUANTITY_FIELD = re.compile(r"\.(resources\.(limits|requests)\..+|overhead\..+|sizeLimit|divisor)$")
_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([numkMGTPE]?|[KMGTPE]i|[eE][+-]?\d{1,3})")
_SUFFIXES = {suffix: (10, power) for suffix, power in zip("numkMGTPE", (-9, -6, -3, 3, 6, 9, 12, 15, 18), strict=True)}
_SUFFIXES |= {f"{suffix}i": (2, 10 * power) for power, suffix in enumerate("KMGTPE", 1)} | {"": (10, 0)}


def _change(path: Path, old: Any, new: Any, entries: Sequence[ManagedFieldsEntry]) -> Change:
    named = (entry for entry in holders(entries, path) if entry.manager != BEFORE_FIRST_APPLY)  # that is nobody
    holder = next(named, ManagedFieldsEntry())
    return Change(dotted(path), old, new, holder.manager, holder.time or "", holder.subresource)


def removals(
    wanted: Tree, live: Tree, entries: Sequence[ManagedFieldsEntry], before: Sequence[ManagedFieldsEntry] = ()
) -> tuple[Change, ...]:
    """The fields that an apply of `wanted` removes: only we own them, and `wanted` does not have them.

    before: the entries before a take-over; they say which manager had set the fields.
    """
    gone: list[Path] = []
    for path in paths(own_fields(entries)):
        old = value_at(live, path)
        kept = old in (None, {}, []) or path[-1] in _DEFAULTED or value_at(wanted, path) is not None
        parent_is_gone = any(path[: len(parent)] == parent for parent in gone)
        if not kept and not parent_is_gone and not holders(entries, path):
            gone.append(path)
    return tuple(_change(path, value_at(live, path), None, before) for path in gone)


def before_first_apply(live: Tree) -> ManagedFieldsEntry:
    """The entry that the server adds at the first apply to an object without managedFields: it owns every field.

    https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply
    """
    fields = Raw(canonical(_fields_of(live, ())))
    return ManagedFieldsEntry(BEFORE_FIRST_APPLY, "Update", "apps/v1", None, "FieldsV1", fields)


def _fields_of(value: Any, path: Path) -> Tree:
    if isinstance(value, dict):
        return {f"f:{name}": _fields_of(item, (*path, name)) for name, item in value.items() if item is not None}
    if keys := _list_keys(value, path):
        picked = [({name: item[name] for name in keys if name in item}, item) for item in value]
        return {f"k:{canonical(one).decode()}": {".": {}} | _fields_of(item, path) for one, item in picked}
    return {}


# If an apply removes one of these fields of a container, the API server sets the default again: no change.
_DEFAULTED = frozenset({"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "protocol"})


def paths(tree: Tree, path: Path = ()) -> Iterator[Path]:
    """Every path of a fieldsV1 tree; the path of a field comes before the paths below it."""
    for name, sub in tree.items():
        kind, _, rest = name.partition(":")
        if kind == "f":
            deeper = (*path, rest)
        elif kind == "k" and isinstance(keys := decoded(rest), dict):
            deeper = (*path, tuple(sorted(keys.items())))
        else:
            continue
        yield deeper
        yield from paths(sub, deeper)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf of a manifest, with its path. A list without keys is one leaf."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif keys := _list_keys(value, path):
        for item in value:
            yield from leaves(item, (*path, tuple((name, item[name]) for name in keys if name in item)))
    else:
        yield path, value


def _list_keys(value: Any, path: Path) -> tuple[str, ...] | None:
    """The keys that identify the items of the list at `path`; None if the list has no keys."""
    keys = KEYS.get(path[-1]) if path and isinstance(path[-1], str) else None
    if keys is None or not isinstance(value, list) or not value:
        return None
    return keys if all(isinstance(item, dict) and keys[0] in item for item in value) else None


def value_at(value: Any, path: Path) -> Any:
    """The value at `path`; None if there is none."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            items = value if isinstance(value, list) else []
            value = next((item for item in items if _is(item, step)), None)
    return value


def _is(item: Any, keys: tuple[tuple[str, Any], ...]) -> bool:
    """Whether these keys identify this item. A manifest may omit the protocol of a port; the server defaults it."""
    return isinstance(item, dict) and all((KEY_DEFAULTS | item).get(key) == value for key, value in keys)


def dotted(path: Path) -> str:
    """A path as people write it: `spec.template.spec.containers[takara].image`."""
    text = ""
    for step in path:
        text += f".{step}" if isinstance(step, str) else f"[{','.join(str(value) for _, value in step)}]"
    return text.removeprefix(".")
