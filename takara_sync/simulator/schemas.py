"""Structural schemas: those of the built-in kinds, and what a server does to an object by its schema.

It drops unknown fields, fills in defaults, and finds mistakes. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from takara_sync.list_keys import KEYS
from takara_sync.simulator.wire import Json, cause

UNTYPED, DUPLICATE, UNKNOWN = "FieldValueTypeInvalid", "FieldValueDuplicate", "FieldUnknown"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_ITEM_KEYS = "x-kubernetes-list-map-keys"

# ------------------------------------------------------------------ the schemas of built-in kinds

_PLAIN = {"str": "string", "datetime": "string", "int": "integer", "bool": "boolean"}
_SUBDOMAIN = r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LABELS = {"additionalProperties": {"type": "string", "pattern": r"(?=.{0,63}$)(([A-Za-z0-9][-\w.]*)?[A-Za-z0-9])?"}}
_QUANTITIES = {"additionalProperties": {"format": "quantity"}}
_SIZE = {"minimum": 0}
# Checks and defaults of the server that are not in the models, by model and field.
# Source of the defaults: kubernetes pkg/apis/{apps,core}/v1/defaults.go, as far as a Deployment of ours has them.
_MORE: dict[str, Json] = {
    "V1ObjectMeta": {"name": {"pattern": _SUBDOMAIN}, "labels": _LABELS},
    "V1LabelSelector": {"matchLabels": _LABELS},
    "V1ResourceRequirements": {"limits": _QUANTITIES, "requests": _QUANTITIES},
    "V1ReplicaSetSpec": {"replicas": _SIZE},
    "V1Deployment": {"spec": {"default": {}}},
    "V1DeploymentSpec": {
        "replicas": {**_SIZE, "default": 1},
        "revisionHistoryLimit": {"default": 10},
        "progressDeadlineSeconds": {"default": 600},
        "strategy": {
            "default": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}
        },
        "template": {"default": {}},
    },
    "V1PodTemplateSpec": {"metadata": {"default": {}}, "spec": {"default": {}}},
    "V1PodSpec": {
        "containers": {"minItems": 1},
        "restartPolicy": {"default": "Always"},
        "terminationGracePeriodSeconds": {"default": 30},
        "dnsPolicy": {"default": "ClusterFirst"},
        "securityContext": {"default": {}},
        "schedulerName": {"default": "default-scheduler"},
    },
    "V1Container": {
        "imagePullPolicy": {"default": "Always"},
        "resources": {"default": {}},
        "terminationMessagePath": {"default": "/dev/termination-log"},
        "terminationMessagePolicy": {"default": "File"},
    },
    "V1ContainerPort": {"protocol": {"default": "TCP"}},
}
_REQUIRED = {
    "V1OwnerReference": ("apiVersion", "kind", "name", "uid"),
    "V1DeploymentSpec": ("selector", "template"),
    "V1PodSpec": ("containers",),
    "V1Container": ("name", "image"),
}


@cache
def schema_of(model: str) -> Json:
    """The schema of a type of the Kubernetes client: `V1Deployment`, `list[V1Container]`, `str`, ..."""
    if model == "object":
        return {}
    if model in _PLAIN:
        return {"type": _PLAIN[model]}
    if model.lower().startswith("list["):
        return {"type": "array", "items": schema_of(model[5:-1])}
    if model.lower().startswith("dict["):
        return {"type": "object", "additionalProperties": schema_of(model.split(", ")[1][:-1])}
    from kubernetes.client import models  # noqa: PLC0415 - 0.4 s and 25 MiB, only for those who use the simulator

    found, properties = getattr(models, model), {}
    for attribute, of in found.openapi_types.items():
        name = found.attribute_map[attribute]
        keyed = {_ITEM_KEYS: KEYS[name]} if name in KEYS else {}
        properties[name] = {**schema_of(of), **keyed, **_MORE.get(model, {}).get(name, {})}
    return {"type": "object", "properties": properties, "required": _REQUIRED.get(model, ())}


# ------------------------------------------------------------------ what a server does by a schema


def shaped(value: Any, schema: Json, *, fill: bool = True) -> Any:
    """The value without unknown fields and unwanted nulls, and where `fill`, with the defaults of absent fields."""
    if isinstance(value, list) and "items" in schema:
        return [shaped(item, schema["items"], fill=fill) for item in value]
    known = schema.get("properties")
    if not isinstance(value, dict) or not known:
        return value
    other = {"nullable": True} if schema.get(_PRESERVE) else None
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
    "type": (UNTYPED, lambda value, of: type(value) is _TYPES[of]),  # first: the others rest on it
    "format": (UNTYPED, lambda value, of: bool(re.fullmatch(_FORMATS.get(of, ".*"), str(value)))),
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
        elif item is not None and known and not schema.get(_PRESERVE):
            yield cause(UNKNOWN, below + name, f'unknown field "{below}{name}"')


def _in_list(value: list[Any], schema: Json, path: str) -> Iterator[Json]:
    keys, seen = schema.get(_ITEM_KEYS, ()), []
    for index, item in enumerate(value):
        yield from mistakes(item, schema.get("items", {}), path=f"{path}[{index}]")
        seen.append([item.get(name) for name in keys if isinstance(item, dict)])
        if keys and seen[-1] in seen[:-1]:
            yield cause(DUPLICATE, f"{path}[{index}]", f"Duplicate value: {json.dumps(seen[-1])}")
