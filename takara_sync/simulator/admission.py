"""What a server does to an object before it stores it: unknown fields go, defaults come, mistakes are refused.

The defaults are those of kubernetes `pkg/apis/{apps,core}/v1/defaults.go`; the checks are the ones that the product
can run into, with the words of `pkg/apis/*/validation` and apimachinery's `validation`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from takara_sync.simulator import schema
from takara_sync.simulator.kinds import DEPLOYMENT, EVENT, POD, REPLICA_SET, Kind
from takara_sync.simulator.wire import Json, Refusal, bad_request, cause, invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_RFC_1123 = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_LABEL = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_UNTYPED = ("FieldValueTypeInvalid", "FieldValueDuplicate")
_POD_DEFAULTS: Json = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
_PROBE_DEFAULTS = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_VOLUME_DEFAULTS: dict[str, Json] = {
    "secret": {"defaultMode": 420},
    "configMap": {"defaultMode": 420},
    "projected": {"defaultMode": 420},
    "downwardAPI": {"defaultMode": 420},
    "hostPath": {"type": ""},
}
_DEPLOYMENT_DEFAULTS = {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}
_ROLLING = {"maxUnavailable": "25%", "maxSurge": "25%"}


def decode(kind: Kind, value: Json, validation: str) -> tuple[Json, list[str]]:
    """The object without unknown fields, and warnings about them.

    `validation` is the `fieldValidation` of the request.  Raises Refusal 400 for a wrong type, and for an unknown
    field where validation is Strict.
    """
    if kind.custom:
        check_types(value.get("metadata") or {}, "V1ObjectMeta", "metadata")
        known = schema.prune(value, kind.schema) | {"metadata": value.get("metadata", {})}
        unknown = [f'unknown field "{path}"' for path in _lost(value, known)]
    else:
        found = check_types(value, kind.model)
        unknown = [f'unknown field "{item.path.strip(".")}"' for item in found]
        known = schema.without_unknown(value, kind.model)
    if unknown and validation == "Strict":
        raise bad_request(f"strict decoding error: {', '.join(unknown)}")
    return known, [] if validation == "Ignore" else unknown


def _lost(value: Any, known: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict) and isinstance(known, dict):
        for key, item in value.items():
            where = f"{path}.{key}" if path else key
            if key in known:
                yield from _lost(item, known[key], where)
            else:
                yield where


def check_types(value: Any, model: str, path: str = "") -> list[schema.Misfit]:
    """The fields that the model of the Kubernetes client does not know.  Raises Refusal 400 for a wrong type."""
    found = list(schema.misfits(value, model, path))
    for misfit in found:
        if not misfit.unknown and not misfit.repeated:
            raise bad_request(f"json: cannot unmarshal field {misfit.path.strip('.')}: {misfit.problem}")
    return [misfit for misfit in found if misfit.unknown]


def check_applied(kind: Kind, value: Json, where: str) -> None:
    """Refuses a body of an apply that does not fit its type: 500 without a reason, as a real server does."""
    found = list(schema.misfits(value.get("metadata") or {}, "V1ObjectMeta", ".metadata"))
    if kind.custom:
        told = schema.violations(value, kind.schema)
        untyped = [
            one for one in told if one["reason"] in _UNTYPED and not one["message"].endswith('type integer: "number"')
        ]
        found += [schema.Misfit(f".{one['field']}", one["message"]) for one in untyped]
        found += [schema.Misfit(f".{path}", schema.UNKNOWN) for path in _lost(value, schema.prune(value, kind.schema))]
    else:
        found = list(schema.misfits(value, kind.model))
    for misfit in found:
        raise Refusal(
            500,
            "",
            f"failed to create typed patch object ({where}; {kind.api_version}, "
            f"Kind={kind.kind}): {misfit.path}: {misfit.problem}",
        )


def admit(kind: Kind, value: Json, old: Json | None) -> Json:
    """The object with defaults.  Raises Refusal 422 with a cause for each mistake."""
    known = schema.prune(value, kind.schema) | {"metadata": value["metadata"]} if kind.custom else value
    filled = schema.default(known, kind.schema) if kind.custom else defaulted(kind, known)
    causes = list(_metadata_causes(filled["metadata"]))
    if kind.custom:
        causes += schema.violations(filled, kind.schema)
    if kind in (DEPLOYMENT, REPLICA_SET):
        causes += _workload_causes(filled["spec"], (old or {}).get("spec"))
    if causes:
        raise invalid(kind, filled["metadata"].get("name", ""), causes)
    return filled


def defaulted(kind: Kind, value: Json) -> Json:
    """A built-in object with the server's defaults."""
    spec = value.get("spec") or {}
    if kind == POD:
        return {**value, "spec": _pod_spec(spec)}
    if kind not in (DEPLOYMENT, REPLICA_SET):
        return value if kind == EVENT else {**value, "spec": spec}
    template = spec.get("template") or {}
    template = {"metadata": {}, **template, "spec": _pod_spec(template.get("spec") or {})}
    if kind == REPLICA_SET:
        return {**value, "spec": {"replicas": 1, **spec, "template": template}}
    strategy = {"type": "RollingUpdate", **(spec.get("strategy") or {})}
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {**_ROLLING, **(strategy.get("rollingUpdate") or {})}
    return {**value, "spec": {**_DEPLOYMENT_DEFAULTS, **spec, "strategy": strategy, "template": template}}


def _pod_spec(spec: Json) -> Json:
    filled = {
        **_POD_DEFAULTS,
        **spec,
        "containers": [_container(item) for item in spec.get("containers") or []],
    }
    if spec.get("initContainers"):
        filled["initContainers"] = [_container(item) for item in spec["initContainers"]]
    if spec.get("serviceAccountName"):
        filled["serviceAccount"] = spec["serviceAccountName"]
    if spec.get("volumes"):
        filled["volumes"] = [_volume(item) for item in spec["volumes"]]
    return filled


def _volume(volume: Json) -> Json:
    if set(volume) == {"name"}:
        return {**volume, "emptyDir": {}}
    return {key: {**_VOLUME_DEFAULTS[key], **item} if key in _VOLUME_DEFAULTS else item for key, item in volume.items()}


def _container(container: Json) -> Json:
    tag = container.get("image", "").rsplit("/", 1)[-1].partition(":")[2]
    filled = {
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always" if tag in ("", "latest") else "IfNotPresent",
        **container,
    }
    if container.get("ports"):
        filled["ports"] = [{"protocol": "TCP", **port} for port in container["ports"]]
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe in container:
            filled[probe] = {**_PROBE_DEFAULTS, **container[probe]}
            if "httpGet" in filled[probe]:
                filled[probe]["httpGet"] = {"path": "/", "scheme": "HTTP", **filled[probe]["httpGet"]}
    return filled


def _metadata_causes(metadata: Json) -> Iterator[Json]:
    name = metadata.get("name") or ""
    if not name:
        yield cause("FieldValueRequired", "metadata.name", "Required value: name or generateName is required")
    elif len(name) > 253:  # noqa: PLR2004 - the limit of a DNS subdomain
        yield _wrong("metadata.name", name, "must be no more than 253 bytes")
    elif not _SUBDOMAIN.fullmatch(name):
        yield _wrong("metadata.name", name, _RFC_1123)
    yield from _label_causes(metadata.get("labels"), "metadata.labels")
    owners = metadata.get("ownerReferences") or []
    for index, owner in enumerate(owners):
        for key in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(key):
                yield _wrong(f"metadata.ownerReferences[{index}].{key}", "", f"{key} must not be empty")
    controllers = [f"{owner['kind']}/{owner['name']}" for owner in owners if owner.get("controller")]
    if len(controllers) > 1:
        shown = f'"true" in references for {controllers[0]} and {controllers[1]}'
        yield _wrong(
            "metadata.ownerReferences",
            owners,
            f"Only one reference can have Controller set to true. Found {shown}",
        )


def _label_causes(labels: Json | None, where: str) -> Iterator[Json]:
    for value in (labels or {}).values():
        if len(value) > 63:  # noqa: PLR2004 - the limit of a label value
            yield _wrong(where, value, "must be no more than 63 bytes")
        elif not _LABEL_VALUE.fullmatch(value):
            yield _wrong(where, value, _LABEL)


def _wrong(where: str, value: Any, why: str) -> Json:
    return cause("FieldValueInvalid", where, f"Invalid value: {json.dumps(value, separators=(',', ':'))}: {why}")


def _workload_causes(spec: Json, old: Json | None) -> Iterator[Json]:
    labels = spec["template"]["metadata"].get("labels") or {}
    wanted = (spec.get("selector") or {}).get("matchLabels") or {}
    if spec["replicas"] < 0:
        yield _wrong("spec.replicas", spec["replicas"], "must be greater than or equal to 0")
    if not spec.get("selector"):
        yield cause("FieldValueRequired", "spec.selector", "Required value")
    elif not wanted.items() <= labels.items():
        yield _wrong("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
    yield from _label_causes(labels, "spec.template.labels")
    yield from _label_causes(wanted, "spec.selector.matchLabels")
    yield from _container_causes(spec["template"]["spec"]["containers"])
    if old is not None and old.get("selector") != spec.get("selector"):
        yield _wrong("spec.selector", spec.get("selector"), "field is immutable")


def _container_causes(containers: list[Json]) -> Iterator[Json]:
    where, seen = "spec.template.spec.containers", set()
    if not containers:
        yield cause("FieldValueRequired", where, "Required value")
    for index, container in enumerate(containers):
        for key in ("name", "image"):
            if not container.get(key):
                yield cause("FieldValueRequired", f"{where}[{index}].{key}", "Required value")
        if container.get("name") in seen:
            yield cause(
                "FieldValueDuplicate",
                f"{where}[{index}].name",
                f"Duplicate value: {json.dumps(container['name'])}",
            )
        seen.add(container.get("name"))
