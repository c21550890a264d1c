"""Admission by schema: the CRD's structural schema for Takaras, the client's models for built-in kinds.

The words and reasons of the causes are those of the real server (apiextensions-apiserver `validation.go`,
structured-merge-diff `typed/validate.go`), since the product prints them.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from takara_sync.simulator.fieldsets import ASSOCIATIVE
from takara_sync.simulator.wire import Json, cause

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "object": (dict,),
    "array": (list,),
    "boolean": (bool,),
    "number": (int, float),
}
_GO_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
_QUANTITY = re.compile(r"[+-]?(\d+|\d+\.\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?")
UNKNOWN = "field not declared in schema"
_REPEATED = "duplicate entries for key"
_QUANTITY_MAPS = ("limits", "requests", "overhead")


def prune(value: Any, schema: Json) -> Any:
    """The value without the fields that the schema does not know."""
    if isinstance(value, dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
        known = schema.get("properties")
        if known is None:
            return value
        return {key: prune(item, known[key]) for key, item in value.items() if key in known and _kept(item, known[key])}
    if isinstance(value, list) and "items" in schema:
        return [prune(item, schema["items"]) for item in value]
    return value


def _kept(value: Any, schema: Json) -> bool:
    return value is not None or bool(schema.get("nullable"))


def default(value: Json, schema: Json) -> Json:
    """The value with the schema's defaults where a field is absent."""
    filled = dict(value)
    for key, of in schema.get("properties", {}).items():
        if key not in filled and "default" in of:
            filled[key] = of["default"]
        if isinstance(filled.get(key), dict):
            filled[key] = default(filled[key], of)
    return filled


def violations(value: Any, schema: Json, path: str = "") -> Iterator[Json]:
    """What the schema refuses, as causes; `path` is where the value stands."""
    if value is None and schema.get("nullable"):
        return
    if (wanted := schema.get("type")) and not _is(value, wanted):
        got = "null" if value is None else _GO_NAMES[type(value)]
        words = f'{path} in body must be of type {wanted}: "{got}"'
        yield cause("FieldValueTypeInvalid", path, f'Invalid value: "{got}": {words}')
        return
    yield from _limits(value, schema, path)
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                yield cause("FieldValueRequired", _join(path, name), "Required value")
        for name, of in schema.get("properties", {}).items():
            if name in value:
                yield from violations(value[name], of, _join(path, name))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from violations(item, schema.get("items", {}), f"{path}[{index}]")
        yield from _repeated(value, schema.get("x-kubernetes-list-map-keys", ()), path)


def _repeated(value: list[Any], keys: Sequence[str], path: str) -> Iterator[Json]:
    seen: list[Json] = []
    for index, item in enumerate(value):
        key = {name: item.get(name) for name in keys if isinstance(item, dict)}
        if key and key in seen:
            yield cause("FieldValueDuplicate", f"{path}[{index}]", f"Duplicate value: {json.dumps(key)}")
        seen.append(key)


def _is(value: Any, wanted: str) -> bool:
    return isinstance(value, _TYPES[wanted]) and (wanted == "boolean" or not isinstance(value, bool))


def _limits(value: Any, schema: Json, path: str) -> Iterator[Json]:
    shown = json.dumps(value)
    if schema.get("format") == "date-time" and not _is_time(value):
        words = f"{path} in body must be of type date-time: {shown}"
        yield cause("FieldValueTypeInvalid", path, f"Invalid value: {shown}: {words}")
    if "minimum" in schema and value < schema["minimum"]:
        words = f"{path} in body should be greater than or equal to {schema['minimum']}"
        yield cause("FieldValueInvalid", path, f"Invalid value: {shown}: {words}")
    if "maximum" in schema and value > schema["maximum"]:
        words = f"{path} in body should be less than or equal to {schema['maximum']}"
        yield cause("FieldValueInvalid", path, f"Invalid value: {shown}: {words}")
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        yield cause("FieldValueTooLong", path, f"Too long: may not be more than {schema['maxLength']} bytes")
    if "minLength" in schema and len(value) < schema["minLength"]:
        words = f"{path} in body should be at least {schema['minLength']} chars long"
        yield cause("FieldValueInvalid", path, f"Invalid value: {shown}: {words}")
    if "enum" in schema and value not in schema["enum"]:
        known = ", ".join(json.dumps(item) for item in schema["enum"])
        yield cause("FieldValueNotSupported", path, f"Unsupported value: {shown}: supported values: {known}")


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


class Misfit(NamedTuple):
    """A field of a built-in kind that is unknown, of a wrong type or a duplicate."""

    path: str
    problem: str

    @property
    def unknown(self) -> bool:
        """Whether the type knows no such field."""
        return self.problem == UNKNOWN

    @property
    def repeated(self) -> bool:
        """Whether a list has two items of one key."""
        return self.problem.startswith(_REPEATED)


@cache
def _fields(model: str) -> dict[str, str]:
    from kubernetes.client import models  # noqa: PLC0415 - 0.4 s and 25 MiB, only for those who write objects

    found = getattr(models, model)
    return {found.attribute_map[name]: kind for name, kind in found.openapi_types.items()}


def misfits(value: Any, kind: str, path: str = "") -> Iterator[Misfit]:
    """What does not fit the model `kind` (`V1Deployment`, `List[V1Container]`, `str`, ...)."""
    if kind == "object":
        return
    plain = {"str": str, "int": int, "bool": bool, "datetime": str, "float": (int, float)}.get(kind)
    wanted: Any = plain or (list if kind.startswith("List") else dict)
    if not isinstance(value, wanted) or (kind != "bool" and isinstance(value, bool)):
        yield Misfit(path, f"expected {kind}, got {json.dumps(value)}")
    elif kind.startswith("List["):
        yield from _list_misfits(value, kind[5:-1], path)
    elif kind.startswith("Dict["):
        quantities = path.rsplit(".", 1)[-1] in _QUANTITY_MAPS
        for key, item in value.items():
            yield from _misfit_items(item, kind, f"{path}.{key}", quantities=quantities)
    elif not plain and not kind.endswith("ManagedFieldsEntry"):
        known = _fields(kind)
        for key, item in value.items():
            if key in known and item is not None:
                yield from misfits(item, known[key], f"{path}.{key}")
            elif key not in known:
                yield Misfit(f"{path}.{key}", UNKNOWN)


def _misfit_items(item: Any, kind: str, path: str, *, quantities: bool) -> Iterator[Misfit]:
    yield from _quantity_misfits(item, path) if quantities else misfits(item, kind.split(", ")[1][:-1], path)


def _list_misfits(value: list[Any], of: str, path: str) -> Iterator[Misfit]:
    keys = ASSOCIATIVE.get(path.rsplit(".", 1)[-1], ())
    seen: list[list[Any]] = []
    for index, item in enumerate(value):
        yield from misfits(item, of, f"{path}[{index}]")
        if keys and isinstance(item, dict):
            key = [item.get(name) for name in keys]
            if key in seen:
                shown = ",".join(f"{name}={json.dumps(item.get(name))}" for name in keys)
                yield Misfit(path, f"{_REPEATED} [{shown}]")
            seen.append(key)


def _quantity_misfits(value: Any, path: str) -> Iterator[Misfit]:
    fits = isinstance(value, (int, float)) or (isinstance(value, str) and _QUANTITY.fullmatch(value))
    if not fits or isinstance(value, bool):
        yield Misfit(
            path,
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        )


def without_unknown(value: Any, kind: str) -> Any:
    """The value without fields that the model does not know and without nulls, as decoding drops them."""
    if isinstance(value, list):
        return [without_unknown(item, kind[5:-1]) for item in value]
    if not isinstance(value, dict) or kind == "object" or kind.startswith("Dict[") or kind.endswith("FieldsEntry"):
        return value
    known = _fields(kind)
    return {key: without_unknown(item, known[key]) for key, item in value.items() if key in known and item is not None}
