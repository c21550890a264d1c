"""The scale subresource: an object seen as a size."""

from __future__ import annotations

from typing import Any

from takara_sync.simulator.admission import check_types
from takara_sync.simulator.kinds import Kind
from takara_sync.simulator.wire import Json, cause, invalid


def scale(kind: Kind, value: Json) -> Json:
    """The scale subresource of an object."""
    size: Any = value
    for name in kind.size_path:
        size = (size or {}).get(name)
    status = value.get("status") or {}
    selector = (
        status.get("selector")
        if kind.custom
        else ",".join(f"{key}={item}" for key, item in sorted(value["spec"]["selector"].get("matchLabels", {}).items()))
    )
    kept = {key: value["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")}
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": kept,
        "spec": {"replicas": size} if size else {},
        "status": {"replicas": status.get("replicas", 0), **({"selector": selector} if selector else {})},
    }


def scaled(kind: Kind, old: Json, wanted: Json) -> Json:
    """The object with the size of the Scale.  Raises Refusal 422 where that is no size."""
    check_types(wanted, "V1Scale")
    size = (wanted.get("spec") or {}).get("replicas", 0)
    if not isinstance(size, int) or size < 0:
        words = f"Invalid value: {size}: must be greater than or equal to 0"
        raise invalid(kind, old["metadata"]["name"], [cause("FieldValueInvalid", "spec.replicas", words)])
    stated = {key: (wanted.get("metadata") or {}).get(key) for key in ("uid", "resourceVersion")}
    return {**_with(old, kind.size_path, size), "metadata": {**old["metadata"], **stated}}


def _with(value: Json, path: tuple[str, ...], item: Any) -> Json:
    head, *rest = path
    return {**value, head: _with(value.get(head) or {}, tuple(rest), item) if rest else item}
