"""The writes, from the request's words to the store's rules: create, put, the patches, apply, scale, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import yaml

from takara_sync.simulator import fields, patches
from takara_sync.simulator.admission import decode, stated
from takara_sync.simulator.fields import Entry
from takara_sync.simulator.kinds import Kind, schema_of
from takara_sync.simulator.wire import Json, Refusal, Request, bad_request, cause, details, not_served, refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from takara_sync.simulator.objects import Objects

_APPLY = "application/apply-patch+yaml"
_PATCHES: dict[str, Callable[[Any, Any], Any]] = {
    "application/json-patch+json": patches.json_patch,
    "application/merge-patch+json": patches.merge_patch,
    "application/strategic-merge-patch+json": patches.strategic_patch,
}


class Place(NamedTuple):
    """What a path names."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""


Written = tuple[int, Json]  # the HTTP status, and the object or what else is answered


class Writes:
    """Carries writes out on the objects; each method answers or raises Refusal."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def create(self, place: Place, request: Request) -> Written:
        """POST."""
        value = self._decoded(place, request, body_of(request))
        return 201, self._objects.create(place.kind, value, self._writer(place, request))

    def put(self, place: Place, request: Request) -> Written:
        """PUT: the whole object."""
        return self._update(place, request, self._objects.find(*place[:3]), body_of(request))

    def patch(self, place: Place, request: Request) -> Written:
        """PATCH of any type that the kind has."""
        if request.media_type == _APPLY and place.subresource != "scale":
            return self._apply(place, request)
        accepted = {media: patch for media, patch in _PATCHES.items() if not (place.kind.crd and "strategic" in media)}
        if request.media_type not in accepted:
            taken = ", ".join([*accepted, _APPLY])
            raise Refusal(415, "UnsupportedMediaType", f"accepted media types include: {taken}")
        old = self._objects.find(*place[:3])
        live = scale(place.kind, old) if place.subresource == "scale" else old
        return self._update(place, request, old, accepted[request.media_type](live, body_of(request)))

    def _update(self, place: Place, request: Request, old: Json, said: Any) -> Written:
        scales = place.subresource == "scale"
        value = scaled(place.kind, old, said) if scales else self._decoded(place, request, said)
        new = self._objects.update(place.kind, old, value, self._writer(place, request))
        return 200, scale(place.kind, new) if scales else new

    def _apply(self, place: Place, request: Request) -> Written:
        kind, wanted = place.kind, applied_body(place, request)
        writer = self._writer(place, request, operation="Apply")
        live = self._objects.get(*place[:3])
        if live is None and (uid := wanted["metadata"].get("uid")):
            words = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise refused(409, "Conflict", kind, place.name, words)
        entries = live and (self._objects.entries(live, live) or self._objects.before_first_apply(kind, live, writer))
        value, after, lost = fields.applied(entries or [], live or {}, wanted, writer)
        if lost and request.query.get("force") != "true":
            raise _field_conflict(place, lost)
        if live is None:
            return 201, self._objects.create(kind, value, writer, after)
        return 200, self._objects.update(kind, live, value, writer, after)

    def delete(self, place: Place, request: Request) -> Written:
        """DELETE of one object, with its options in the body or the query."""
        kind, name = place.kind, place.name
        old = self._objects.find(*place[:3])
        options = decode(body_of(request) if request.body.strip() else {}, schema_of("V1DeleteOptions"))
        for key, wanted in options.get("preconditions", {}).items():
            if wanted != old["metadata"].get(key):
                words = f"is another one: {key} in precondition: {wanted}, in object: {old['metadata'].get(key)}"
                raise refused(409, "Conflict", kind, name, words)
        policy = options.get("propagationPolicy") or request.query.get("propagationPolicy", "Background")
        if kept := self._objects.delete(kind, old, policy):
            return 200, kept
        told = {**details(kind, name), "uid": old["metadata"]["uid"]}
        return (200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": told})

    def _decoded(self, place: Place, request: Request, said: Any) -> Json:
        strict = request.query.get("fieldValidation") == "Strict"
        return decode(named(said, place), place.kind.schema, custom=bool(place.kind.crd), strict=strict)

    def _writer(self, place: Place, request: Request, operation: str = "Update") -> Entry:
        manager = request.query.get("fieldManager") or request.headers.get("user-agent", "").partition("/")[0]
        time = None if place.subresource == "scale" else self._objects.time()  # as the real one: no time on scale
        return Entry(manager or "unknown", operation, place.kind.api_version, place.subresource, time)


def body_of(request: Request) -> Any:
    """The decoded body; JSON is YAML too, but much faster.  Raises Refusal 400."""
    try:
        return msgspec.json.decode(request.body)
    except msgspec.DecodeError as error:
        if not request.media_type.endswith("yaml"):
            raise bad_request(f"the object provided is unrecognized: {error}") from error
    try:
        return yaml.safe_load(request.body)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise bad_request(f"error decoding YAML: {error}") from error


def named(value: Any, place: Place) -> Json:
    """The body with its namespace and name, where it is of this kind and place.  Raises Refusal 400."""
    kind = place.kind
    if not isinstance(value, dict) or not isinstance(value.get("metadata", {}), dict):
        raise bad_request("the object provided is unrecognized (must be of type Object)")
    unsaid = ("", "") if kind.crd else (kind.api_version, kind.kind)
    given = value.get("apiVersion", unsaid[0]), value.get("kind", unsaid[1])
    if given != (kind.api_version, kind.kind):
        raise bad_request(f"{given} in the data does not match the expected {(kind.api_version, kind.kind)}")
    metadata = {**value.get("metadata", {})}
    for key, wanted in (("namespace", place.namespace), ("name", place.name)):
        if wanted and (metadata.get(key) or wanted) != wanted:
            raise bad_request(f"the {key} of the provided object does not match the {key} on the URL ({wanted})")
        metadata |= {key: wanted} if wanted else {}
    return {**value, "metadata": metadata}


def applied_body(place: Place, request: Request) -> Json:
    """The body of an apply, after the checks that come before any merge.  Raises Refusal."""
    if "scale" not in place.kind.subresources:
        raise not_served(f"server-side apply of {place.kind.plural}")
    if not request.query.get("fieldManager"):
        causes = [cause("FieldValueRequired", "fieldManager", "Required value: is required for apply patch")]
        raise Refusal(422, "Invalid", "PatchOptions is invalid: fieldManager: Required value", {"causes": causes})
    said = body_of(request)
    if not isinstance(said, dict) or not said.get("apiVersion") or not said.get("kind"):
        raise bad_request("the body is no object with an apiVersion and a kind")
    wanted = named(said, place)
    if wanted["metadata"].get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    return stated(place.kind, wanted)


def _field_conflict(place: Place, lost: list[tuple[Entry, tuple[str, ...]]]) -> Refusal:
    causes = []
    for entry, path in lost:
        by = f' with subresource "{entry.subresource}"' if entry.subresource else ""
        told = f'conflict with "{entry.manager}"{by} using {entry.api_version}'
        causes.append(cause("FieldManagerConflict", "".join(map(_shown, path)), told))
    told = "; ".join(f"{one['message']}: {one['field']}" for one in causes)
    message = f"Apply failed with {len(causes)} conflict{'s' * (len(causes) > 1)}: {told}"
    return Refusal(409, "Conflict", message, details(place.kind, place.name, causes))


def _shown(element: str) -> str:
    if element.startswith("f:"):
        return f".{element[2:]}"
    return "[" + ",".join(f'{key}="{item}"' for key, item in msgspec.json.decode(element[2:]).items()) + "]"


def scale(kind: Kind, value: Json) -> Json:
    """The scale subresource of an object."""
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


def scaled(kind: Kind, old: Json, wanted: Any) -> Json:
    """The object with the size of the Scale.  Raises Refusal 400, 422 where that is no size."""
    said = decode(wanted, schema_of("V1Scale"))
    spec = {**old["spec"], kind.size_field: said.get("spec", {}).get("replicas", 0)}
    known = {key: said.get("metadata", {}).get(key) for key in ("uid", "resourceVersion")}
    return {**old, "spec": spec, "metadata": {**old["metadata"], **known}}
