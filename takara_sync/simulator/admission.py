"""What a server does to an object before it stores it: it drops unknown fields, fills in defaults, refuses mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from takara_sync.simulator.kinds import DEPLOYMENT, ITEM_KEYS, PRESERVE, Kind
from takara_sync.simulator.wire import Json, Refusal, bad_request, cause

_UNTYPED, _DUPLICATE, _UNKNOWN = "FieldValueTypeInvalid", "FieldValueDuplicate", "FieldUnknown"


def shaped(value: Any, schema: Json, *, fill: bool = True) -> Any:
    """The value without unknown fields and unwanted nulls, and where `fill`, with the defaults of absent fields."""
    if isinstance(value, list) and "items" in schema:
        return [shaped(item, schema["items"], fill=fill) for item in value]
    known = schema.get("properties")
    if not isinstance(value, dict) or not known:
        return value
    other = {"nullable": True} if schema.get(PRESERVE) else None
    kept = {
        key: item
        for key, item in value.items()
        if (of := known.get(key, other)) is not None and (item is not None or of.get("nullable"))
    }
    defaults = {key: of["default"] for key, of in known.items() if "default" in of} if fill else {}
    return {key: shaped(item, known.get(key, {}), fill=fill) for key, item in (defaults | kept).items()}


_TYPES = {"string": str, "integer": int, "object": dict, "array": list, "boolean": bool}
_FORMATS = {
    "date-time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    "quantity": r"[+-]?(\d+|\d+\.\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?",
}
_RULES: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "type": (_UNTYPED, lambda value, of: type(value) is _TYPES[of]),  # first: the others rest on it
    "format": (_UNTYPED, lambda value, of: bool(re.fullmatch(_FORMATS.get(of, ".*"), str(value)))),
    "minimum": ("FieldValueInvalid", lambda value, limit: value >= limit),
    "maximum": ("FieldValueInvalid", lambda value, limit: value <= limit),
    "minLength": ("FieldValueInvalid", lambda value, limit: len(value) >= limit),
    "maxLength": ("FieldValueTooLong", lambda value, limit: len(value) <= limit),
    "pattern": ("FieldValueInvalid", lambda value, pattern: bool(re.fullmatch(pattern, value, re.ASCII))),
    "minItems": ("FieldValueRequired", lambda value, limit: len(value) >= limit),
    "enum": ("FieldValueNotSupported", lambda value, known: value in known),
}


def mistakes(value: Any, schema: Json, old: Any = None, path: str = "") -> Iterator[Json]:
    """What the schema refuses, as causes, and the fields that it does not know.

    old: the stored value, which has been checked; what equals it is not checked again. path: where the value stands.
    """
    if value == old:
        return
    for rule, (reason, fits) in _RULES.items():
        if rule in schema and not fits(value, schema[rule]):
            yield cause(reason, path, f"Invalid value: {json.dumps(value)}: {rule} must be {schema[rule]}")
            return
    if isinstance(value, dict):
        yield from _in_object(value, schema, old if isinstance(old, dict) else {}, path)
    if isinstance(value, list):
        yield from _in_list(value, schema, path)


def _in_object(value: Json, schema: Json, old: Json, path: str) -> Iterator[Json]:
    known, other = schema.get("properties", {}), schema.get("additionalProperties")
    below = f"{path}." if path else ""
    for name in schema.get("required", ()):
        if value.get(name) is None:
            yield cause("FieldValueRequired", below + name, "Required value")
    for name, item in value.items():
        if item is not None and name in known:
            yield from mistakes(item, known[name], old.get(name), below + name)
        elif other:
            yield from mistakes(item, other, old.get(name), path)  # the cause names the map
        elif item is not None and known and not schema.get(PRESERVE):
            yield cause(_UNKNOWN, below + name, f'unknown field "{below}{name}"')


def _in_list(value: list[Any], schema: Json, path: str) -> Iterator[Json]:
    keys = schema.get(ITEM_KEYS, ())
    named = [[item.get(name) for name in keys if isinstance(item, dict)] for item in value]
    for index, item in enumerate(value):
        yield from mistakes(item, schema.get("items", {}), path=f"{path}[{index}]")
        if keys and named[index] in named[:index]:
            yield cause(_DUPLICATE, f"{path}[{index}]", f"Duplicate value: {json.dumps(named[index])}")


def check_decodable(kind: Kind, new: Json, old: Json | None, *, strict: bool) -> None:
    """Raises Refusal 400 for a wrong type (of a custom resource: only in its metadata); if `strict`, for an unknown
    field.
    """
    for found in mistakes(new, kind.schema, old):
        if found["reason"] == _UNTYPED and (not kind.crd or found["field"].startswith("metadata")):
            raise bad_request(f"json: cannot unmarshal field {found['field']}: {found['message']}")
        if found["reason"] == _UNKNOWN and strict:
            raise bad_request(f"strict decoding error: {found['message']}")


def stated(kind: Kind, value: Json) -> Json:
    """The applied object without nulls. Raises Refusal 500 without a reason for an unknown field or a wrong type."""
    for found in mistakes(value, kind.schema):
        if found["reason"] in (_UNTYPED, _DUPLICATE, _UNKNOWN):
            message = f"failed to create typed patch object ({kind.kind}): .{found['field']}: {found['message']}"
            raise Refusal(500, "", message)
    known: Json = shaped(value, kind.schema, fill=False)
    return known


def validate(kind: Kind, new: Json, old: Json | None) -> None:
    """Raises Refusal 422 with a cause for each mistake; `old` is the stored object, None for a create."""
    if causes := list(mistakes(new, kind.schema, old)) or list(_causes(kind, new, old or new)):
        raise kind.invalid(new["metadata"]["name"], causes)


def _causes(kind: Kind, new: Json, old: Json) -> Iterator[Json]:
    """The mistakes that no schema describes."""
    if sum(bool(owner.get("controller")) for owner in new["metadata"].get("ownerReferences", ())) > 1:
        yield cause("FieldValueInvalid", "metadata.ownerReferences", "Only one can have Controller set to true")
    if kind == DEPLOYMENT and new["spec"]["selector"] != old["spec"]["selector"]:
        yield cause("FieldValueInvalid", "spec.selector", "field is immutable")
