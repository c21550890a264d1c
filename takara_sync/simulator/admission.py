"""What a server does to an object before it stores it: it drops unknown fields, fills in defaults, refuses mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from takara_sync.simulator.kinds import DEPLOYMENT, Json, Kind
from takara_sync.simulator.wire import Refusal, bad_request, cause, invalid

_TYPES = {"string": str, "integer": int, "object": dict, "array": list, "boolean": bool}
_FORMATS = {
    "date-time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    "quantity": r"[+-]?(\d+|\d+\.\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?",
}
_RULES: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "type": ("FieldValueTypeInvalid", lambda value, of: type(value) is _TYPES[of]),  # first: the others rest on it
    "format": ("FieldValueTypeInvalid", lambda value, of: bool(re.fullmatch(_FORMATS.get(of, ".*"), str(value)))),
    "minimum": ("FieldValueInvalid", lambda value, limit: value >= limit),
    "maximum": ("FieldValueInvalid", lambda value, limit: value <= limit),
    "minLength": ("FieldValueInvalid", lambda value, limit: len(value) >= limit),
    "maxLength": ("FieldValueTooLong", lambda value, limit: len(value) <= limit),
    "pattern": ("FieldValueInvalid", lambda value, pattern: bool(re.fullmatch(pattern, value, re.ASCII))),
    "minItems": ("FieldValueRequired", lambda value, limit: len(value) >= limit),
    "enum": ("FieldValueNotSupported", lambda value, known: value in known),
}
_UNTYPED = ("FieldValueTypeInvalid", "FieldValueDuplicate")


def prune(value: Any, schema: Json, lost: list[str], path: str = "") -> Any:
    """The value without unwanted nulls, and without what the schema does not know: `lost` gets its paths."""
    known = schema.get("properties")
    if isinstance(value, dict) and known and not schema.get("x-kubernetes-preserve-unknown-fields"):
        lost += [f"{path}.{key}".strip(".") for key, item in value.items() if key not in known and item is not None]
        kept = [key for key in value if key in known and (value[key] is not None or known[key].get("nullable"))]
        return {key: prune(value[key], known[key], lost, f"{path}.{key}") for key in kept}
    if isinstance(value, list) and "items" in schema:
        return [prune(item, schema["items"], lost, f"{path}[{index}]") for index, item in enumerate(value)]
    return value


def default(value: Any, schema: Json) -> Any:
    """The value with the schema's defaults where a field is absent."""
    if isinstance(value, list) and "items" in schema:
        return [default(item, schema["items"]) for item in value]
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    known = schema["properties"]
    filled = {key: of["default"] for key, of in known.items() if "default" in of} | value
    return {key: default(item, known.get(key, {})) for key, item in filled.items()}


def violations(value: Any, schema: Json, path: str = "") -> Iterator[Json]:
    """What the schema refuses, as causes; `path` is where the value stands."""
    if value is None and schema.get("nullable"):
        return
    for rule, (reason, fits) in _RULES.items():
        if rule in schema and not fits(value, schema[rule]):
            yield cause(reason, path, f"Invalid value: {json.dumps(value)}: {rule} must be {schema[rule]}")
            return
    if isinstance(value, dict):
        missing = [name for name in schema.get("required", ()) if name not in value]
        yield from (cause("FieldValueRequired", f"{path}.{name}".strip("."), "Required value") for name in missing)
        for name, item in value.items():
            of = schema.get("properties", {}).get(name)  # of a map without properties, the cause names the map
            where = f"{path}.{name}".strip(".") if of else path
            yield from violations(item, of or schema.get("additionalProperties", {}), where)
    if isinstance(value, list):
        keys, seen = schema.get("x-kubernetes-list-map-keys", ()), []
        for index, item in enumerate(value):
            yield from violations(item, schema.get("items", {}), f"{path}[{index}]")
            seen.append([item.get(name) for name in keys if isinstance(item, dict)])
            if keys and seen[-1] in seen[:-1]:
                yield cause("FieldValueDuplicate", f"{path}[{index}]", f"Duplicate value: {json.dumps(seen[-1])}")


def decode(value: Json, schema: Json, *, custom: bool = False, strict: bool = False) -> Json:
    """The object without unknown fields.

    Raises Refusal 400 for a wrong type (of a custom resource: only in its metadata) and, if `strict`, for an unknown
    field.
    """
    lost: list[str] = []
    known: Json = prune(value, schema, lost)
    for found in violations(known, schema):
        if found["reason"] == "FieldValueTypeInvalid" and (not custom or found["field"].startswith("metadata")):
            raise bad_request(f"json: cannot unmarshal field {found['field']}: {found['message']}")
    if strict and lost:
        raise bad_request("strict decoding error: " + ", ".join(f'unknown field "{path}"' for path in lost))
    return known


def stated(kind: Kind, value: Json) -> Json:
    """The applied object without nulls. Raises Refusal 500 without a reason for an unknown field or a wrong type."""
    lost: list[str] = []
    known: Json = prune(value, kind.schema, lost)
    wrong = [f"{path}: field not declared in schema" for path in lost]
    wrong += [
        f"{one['field']}: {one['message']}" for one in violations(known, kind.schema) if one["reason"] in _UNTYPED
    ]
    if wrong:
        raise Refusal(500, "", f"failed to create typed patch object ({kind.kind}): .{wrong[0]}")
    return known


def defaulted(kind: Kind, value: Json) -> Json:
    """The object with its kind and its defaults."""
    filled: Json = default({"apiVersion": kind.api_version, "kind": kind.kind, **value}, kind.schema)
    return filled


def validate(kind: Kind, new: Json, old: Json) -> None:
    """Raises Refusal 422 with a cause for each mistake; `old` is the stored object, or again the new one."""
    if causes := list(violations(new, kind.schema)) or list(_causes(kind, new, old)):
        raise invalid(kind, new["metadata"]["name"], causes)


def _causes(kind: Kind, new: Json, old: Json) -> Iterator[Json]:
    """The mistakes that no schema describes."""
    if sum(bool(owner.get("controller")) for owner in new["metadata"].get("ownerReferences", ())) > 1:
        yield cause("FieldValueInvalid", "metadata.ownerReferences", "Only one can have Controller set to true")
    if kind == DEPLOYMENT:
        selector, labels = new["spec"]["selector"], new["spec"]["template"]["metadata"].get("labels", {})
        if not selector.get("matchLabels", {}).items() <= labels.items():
            words = "`selector` does not match template `labels`"
            yield cause("FieldValueInvalid", "spec.template.metadata.labels", words)
        if selector != old["spec"]["selector"]:
            yield cause("FieldValueInvalid", "spec.selector", "field is immutable")
