"""From a request that writes to a call of the objects: create, put, the patches, apply, scale, delete.

Each function returns the HTTP status and the object, or what else is answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from takara_sync.simulator.admission import check_decodable, stated
from takara_sync.simulator.fields import Entry, applied
from takara_sync.simulator.kinds import NAMESPACE, Kind
from takara_sync.simulator.objects import Objects
from takara_sync.simulator.patches import PATCHES, STRATEGIC, Path
from takara_sync.simulator.wire import Json, Refusal, Request, bad_request, cause

APPLY = "application/apply-patch+yaml"


class Place(NamedTuple):
    """What a path names."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def write(objects: Objects, place: Place, request: Request) -> tuple[int, Json]:
    """The write that the method asks for. Raises Refusal: 405 where the place has no such method, and many others."""
    handler = _HANDLERS.get((request.method, bool(place.name)))
    outside = place.kind.namespaced and not place.namespace
    if handler is None or outside or (request.method == "DELETE" and (place.subresource or place.kind == NAMESPACE)):
        raise Refusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    return handler(objects, place, request)


def _create(objects: Objects, place: Place, request: Request) -> tuple[int, Json]:
    value = _decoded(place, request, body_of(request), None)
    return 201, objects.write(place.kind, None, value, _writer(objects, place, request))


def _update(objects: Objects, place: Place, request: Request) -> tuple[int, Json]:
    """Writes the object, or its Scale, as the body says, or as a patch with the body makes it."""
    kind, scales, media = place.kind, place.subresource == "scale", request.headers.get("content-type", "")
    if request.method == "PATCH" and media == APPLY and kind.applicable:
        return _apply(objects, place, request)
    old, given = objects.find(*place[:3]), body_of(request)
    if request.method == "PATCH":
        if media not in PATCHES or (media == STRATEGIC and kind.crd):
            raise Refusal(415, "UnsupportedMediaType", f"a patch of {kind.resource} cannot be of the type {media}")
        given = PATCHES[media](scale(kind, old) if scales else old, given)
    value = _scaled(kind, old, given) if scales else _decoded(place, request, given, old)
    new = objects.write(kind, old, value, _writer(objects, place, request))
    return 200, scale(kind, new) if scales else new


def _apply(objects: Objects, place: Place, request: Request) -> tuple[int, Json]:
    kind, writer = place.kind, _writer(objects, place, request)._replace(operation="Apply")
    wanted = stated(kind, _named(body_of(request), place))
    live = objects.get(*place[:3])
    if live is None and (uid := wanted["metadata"].get("uid")):
        message = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise kind.refusal(409, "Conflict", place.name, message)
    value, owners, lost = applied(live or {}, wanted, kind.unowned, writer)
    if lost and request.query.get("force") != "true":
        raise _field_conflict(place, lost)
    return 200 if live else 201, objects.write(kind, live, value, writer, owners)


def _delete(objects: Objects, place: Place, request: Request) -> tuple[int, Json]:
    """DeleteOptions in the body may name a propagationPolicy; the rest of them has no effect."""
    old = objects.find(*place[:3])
    options = body_of(request) if request.body.strip() else {}
    kept = objects.delete(place.kind, old, options.get("propagationPolicy", "Background"))
    details = {**place.kind.details(place.name), "uid": old["metadata"]["uid"]}
    gone = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
    return 200, kept or gone


# By method, and whether the path names an object or a collection.
_HANDLERS: dict[tuple[str, bool], Callable[[Objects, Place, Request], tuple[int, Json]]] = {
    ("POST", False): _create,
    ("PUT", True): _update,
    ("PATCH", True): _update,
    ("DELETE", True): _delete,
}


def _decoded(place: Place, request: Request, given: Any, old: Json | None) -> Json:
    value = _named(given, place)
    check_decodable(place.kind, value, old, strict=request.query.get("fieldValidation") == "Strict")
    return value


def _writer(objects: Objects, place: Place, request: Request) -> Entry:
    manager = request.query.get("fieldManager") or request.headers.get("user-agent", "").partition("/")[0]
    time = "" if place.subresource == "scale" else objects.time()  # entries of /scale have no time
    return Entry(manager or "unknown", "Update", place.kind.api_version, place.subresource, time)


def body_of(request: Request) -> Any:
    """The decoded body. Raises Refusal 400 where it is not JSON."""
    try:
        return msgspec.json.decode(request.body)
    except msgspec.DecodeError as error:
        raise bad_request(f"the object provided is unrecognized: {error}") from error


def _named(value: Any, place: Place) -> Json:
    """The object with the namespace and name of the place. Raises Refusal 400 where it is none."""
    metadata = value.get("metadata", {}) if isinstance(value, dict) else None
    if not isinstance(metadata, dict):
        raise bad_request("the object provided is unrecognized (must be of type Object)")
    stands = {key: text for key, text in (("namespace", place.namespace), ("name", place.name)) if text}
    return {**value, "metadata": metadata | stands}


def _field_conflict(place: Place, lost: list[tuple[Entry, Path]]) -> Refusal:
    causes = [
        cause(
            "FieldManagerConflict",
            "".join(map(_dotted, path)),
            f'conflict with "{entry.manager}" using {entry.api_version}',
        )
        for entry, path in lost
    ]
    listed = "; ".join(f"{one['message']}: {one['field']}" for one in causes)
    message = f"Apply failed with {len(causes)} conflict{'s' * (len(causes) > 1)}: {listed}"
    return Refusal(409, "Conflict", message, place.kind.details(place.name, causes))


def _dotted(element: str) -> str:
    """`.name` for the path element `f:name`, and `[name="takara"]` for `k:{"name":"takara"}`."""
    return f".{element[2:]}" if element.startswith("f:") else re.sub(r'.:{"(\w+)":(.*)}', r"[\1=\2]", element)


def scale(kind: Kind, value: Json) -> Json:
    """The Scale of an object."""
    size, status = value["spec"].get(kind.size_field), value.get("status", {})
    labels = value["spec"].get("selector", {}).get("matchLabels", {})
    selector = status.get("selector") or ",".join(f"{key}={item}" for key, item in sorted(labels.items()))
    kept = {key: value["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")}
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": kept,
        "spec": {"replicas": size} if size else {},
        "status": {"replicas": status.get("replicas", 0), **({"selector": selector} if selector else {})},
    }


def _scaled(kind: Kind, old: Json, wanted: Json) -> Json:
    """The object with the size of the Scale."""
    spec = {**old["spec"], kind.size_field: wanted.get("spec", {}).get("replicas", 0)}
    known = {key: wanted.get("metadata", {}).get(key) for key in ("uid", "resourceVersion")}
    return {**old, "spec": spec, "metadata": {**old["metadata"], **known}}
