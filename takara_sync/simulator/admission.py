"""What a server does to an object before it stores it: unknown fields go, defaults come, mistakes are refused.

The defaults are those of kubernetes `pkg/apis/{apps,core}/v1/defaults.go`, as far as a Deployment of ours has them.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from takara_sync.simulator.kinds import DEPLOYMENT, Kind
from takara_sync.simulator.wire import Json, Refusal, bad_request, cause, invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
    "enum": ("FieldValueNotSupported", lambda value, known: value in known),
}
_UNTYPED = ("FieldValueTypeInvalid", "FieldValueDuplicate")
_POD: Json = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
_CONTAINER: Json = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_DEPLOYMENT = {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}
_ROLLING = {"maxUnavailable": "25%", "maxSurge": "25%"}


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


def default(value: Json, schema: Json) -> Json:
    """The value with the schema's defaults where a field is absent."""
    filled = {key: of["default"] for key, of in schema.get("properties", {}).items() if "default" in of} | value
    deeper = {key: of for key, of in schema.get("properties", {}).items() if isinstance(filled.get(key), dict)}
    return filled | {key: default(filled[key], of) for key, of in deeper.items()}


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
            if of := schema.get("properties", {}).get(name):
                yield from violations(item, of, f"{path}.{name}".strip("."))
            else:  # a map is refused as a whole, as there
                yield from violations(item, schema.get("additionalProperties", {}), path)
    if isinstance(value, list):
        keys, seen = schema.get("x-kubernetes-list-map-keys", ()), []
        for index, item in enumerate(value):
            yield from violations(item, schema.get("items", {}), f"{path}[{index}]")
            seen.append([item.get(name) for name in keys if isinstance(item, dict)])
            if keys and seen[-1] in seen[:-1]:
                yield cause("FieldValueDuplicate", f"{path}[{index}]", f"Duplicate value: {json.dumps(seen[-1])}")


def decode(value: Json, schema: Json, *, custom: bool = False, strict: bool = False) -> Json:
    """The object without unknown fields.

    Raises Refusal 400 for a wrong type (of a custom resource: in its metadata), where `strict` for an unknown field.
    """
    lost: list[str] = []
    known: Json = prune(value, schema, lost)
    for told in violations(known, schema):
        if told["reason"] == "FieldValueTypeInvalid" and (not custom or told["field"].startswith("metadata")):
            raise bad_request(f"json: cannot unmarshal field {told['field']}: {told['message']}")
    if strict and lost:
        raise bad_request("strict decoding error: " + ", ".join(f'unknown field "{path}"' for path in lost))
    return known


def stated(kind: Kind, value: Json) -> Json:
    """The body of an apply; nulls state nothing.  Raises Refusal 500 without a reason for what does not fit."""
    lost: list[str] = []
    known: Json = prune(value, kind.schema, lost)
    found = [f"{path}: field not declared in schema" for path in lost]
    told = (one for one in violations(known, kind.schema) if one["reason"] in _UNTYPED)
    found += [f"{one['field']}: {one['message']}" for one in told]
    if found:
        raise Refusal(500, "", f"failed to create typed patch object ({kind.kind}): .{found[0]}")
    return known


def admit(kind: Kind, value: Json, old: Json | None) -> Json:
    """The object with defaults.  Raises Refusal 422 with a cause for each mistake."""
    filled = default(value, kind.schema) if kind.crd else value
    if kind == DEPLOYMENT:
        filled = {**value, "spec": _defaulted(value.get("spec", {}))}
    causes = list(violations(filled, kind.schema)) or list(_causes(kind, filled, old or filled))
    if causes:
        raise invalid(kind, filled["metadata"]["name"], causes)
    return filled


def _causes(kind: Kind, new: Json, old: Json) -> Iterator[Json]:
    """What no schema says."""
    if sum(bool(owner.get("controller")) for owner in new["metadata"].get("ownerReferences", ())) > 1:
        yield cause("FieldValueInvalid", "metadata.ownerReferences", "Only one can have Controller set to true")
    if kind == DEPLOYMENT:
        selector, labels = new["spec"]["selector"], new["spec"]["template"]["metadata"].get("labels", {})
        if not selector.get("matchLabels", {}).items() <= labels.items():
            words = "`selector` does not match template `labels`"
            yield cause("FieldValueInvalid", "spec.template.metadata.labels", words)
        if selector != old["spec"]["selector"]:
            yield cause("FieldValueInvalid", "spec.selector", "field is immutable")


def _defaulted(spec: Json) -> Json:
    """The spec of a Deployment with the server's defaults."""
    template, strategy = spec.get("template", {}), {"type": "RollingUpdate", **spec.get("strategy", {})}
    pod = {**_POD, **template.get("spec", {})}
    pod["containers"] = [_container(item) for item in pod.get("containers", ())]
    pod = {key: item for key, item in pod.items() if item or key != "containers"}
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {**_ROLLING, **strategy.get("rollingUpdate", {})}
    return {**_DEPLOYMENT, **spec, "strategy": strategy, "template": {"metadata": {}, **template, "spec": pod}}


def _container(container: Json) -> Json:
    tag = container.get("image", "").rsplit("/", 1)[-1].partition(":")[2]
    pull = "Always" if tag in ("", "latest") else "IfNotPresent"
    filled = {**_CONTAINER, "imagePullPolicy": pull, **container}
    if container.get("ports"):
        filled["ports"] = [{"protocol": "TCP", **port} for port in container["ports"]]
    return filled
