"""From a request that writes to a call of the objects: create, put, the patches, apply, scale, delete."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from takara_sync.simulator import fields, patches
from takara_sync.simulator.admission import decode, stated
from takara_sync.simulator.fields import Entry
from takara_sync.simulator.kinds import NAMESPACE, Json, Kind, schema_of
from takara_sync.simulator.objects import Objects
from takara_sync.simulator.wire import Refusal, Request, bad_request, cause, details, not_served, refused

_APPLY = "application/apply-patch+yaml"
_STRATEGIC = "application/strategic-merge-patch+json"
_Patch = Callable[[Any, Any], Any]  # from what is stored and the decoded body to what is written
_PATCHES: dict[str, _Patch] = {
    "application/json-patch+json": patches.json_patch,
    "application/merge-patch+json": patches.merge_patch,
    _STRATEGIC: patches.strategic_patch,
}


class Place(NamedTuple):
    """What a path names."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""


Written = tuple[int, Json]  # the HTTP status, and the object or what else is answered


class Writes:
    """Writes to the objects; each method returns the HTTP status and the object, or raises Refusal."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def handle(self, place: Place, request: Request) -> Written:
        """The write that the method asks for. Raises Refusal 405 where the place has no such method."""
        handlers = {"PUT": self._replace, "PATCH": self._patch} if place.name else {"POST": self._create}
        if place.name and not place.subresource:
            handlers["DELETE"] = self._delete
        if request.method not in handlers or (place.kind.namespaced and not place.namespace):
            raise Refusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        return handlers[request.method](place, request)

    def _create(self, place: Place, request: Request) -> Written:
        value = self._decoded(place, request, body_of(request))
        return 201, self._objects.create(place.kind, value, self._writer(place, request))

    def _patch(self, place: Place, request: Request) -> Written:
        media, kind = request.media_type, place.kind
        if media == _APPLY and place.subresource != "scale":
            return self._apply(place, request)
        if media not in _PATCHES or (media == _STRATEGIC and kind.crd):
            raise Refusal(415, "UnsupportedMediaType", f"a patch of {kind.resource} cannot be of the type {media}")
        return self._replace(place, request, _PATCHES[media])

    def _replace(self, place: Place, request: Request, patch: _Patch = lambda _, given: given) -> Written:
        """Writes the object, or its Scale, as the body says, or as a patch with the body makes it."""
        old, scales = self._objects.find(*place[:3]), place.subresource == "scale"
        given = patch(scale(place.kind, old) if scales else old, body_of(request))
        value = scaled(place.kind, old, given) if scales else self._decoded(place, request, given)
        new = self._objects.update(place.kind, old, value, self._writer(place, request))
        return 200, scale(place.kind, new) if scales else new

    def _apply(self, place: Place, request: Request) -> Written:
        kind = place.kind
        if "scale" not in kind.subresources:
            raise not_served(f"server-side apply of {kind.plural}")
        wanted, writer = stated(kind, named(body_of(request), place)), self._writer(place, request, "Apply")
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

    def _delete(self, place: Place, request: Request) -> Written:
        """DeleteOptions in the body may name a propagationPolicy."""
        old = self._objects.find(*place[:3])
        options = decode(body_of(request) if request.body.strip() else {}, schema_of("V1DeleteOptions"))
        if options.get("preconditions") or place.kind == NAMESPACE:
            raise not_served("a delete with preconditions, or of a namespace,")
        if kept := self._objects.delete(place.kind, old, options.get("propagationPolicy", "Background")):
            return 200, kept
        gone = {**details(place.kind, place.name), "uid": old["metadata"]["uid"]}
        return 200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": gone}

    def _decoded(self, place: Place, request: Request, given: Any) -> Json:
        strict = request.query.get("fieldValidation") == "Strict"
        return decode(named(given, place), place.kind.schema, custom=bool(place.kind.crd), strict=strict)

    def _writer(self, place: Place, request: Request, operation: str = "Update") -> Entry:
        manager = request.query.get("fieldManager") or request.headers.get("user-agent", "").partition("/")[0]
        time = None if place.subresource == "scale" else self._objects.time()  # entries of /scale have no time
        return Entry(manager or "unknown", operation, place.kind.api_version, place.subresource, time)


def body_of(request: Request) -> Any:
    """The decoded body. Raises Refusal 400 where it is not JSON."""
    try:
        return msgspec.json.decode(request.body)
    except msgspec.DecodeError as error:
        raise bad_request(f"the object provided is unrecognized: {error}") from error


def named(value: Any, place: Place) -> Json:
    """The object with its namespace and name. Raises Refusal 400 where it is of another kind or place."""
    metadata = value.get("metadata", {}) if isinstance(value, dict) else None
    if not isinstance(metadata, dict):
        raise bad_request("the object provided is unrecognized (must be of type Object)")
    expected = place.kind.api_version, place.kind.kind
    left_out = (None, None) if place.kind.crd else expected
    if (value.get("apiVersion", left_out[0]), value.get("kind", left_out[1])) != expected:
        raise bad_request(f"the apiVersion and kind of the object are not those of the URL, {expected}")
    stands = {key: text for key, text in (("namespace", place.namespace), ("name", place.name)) if text}
    if any(metadata.get(key) not in (None, "", text) for key, text in stands.items()):
        raise bad_request(f"the name and namespace of the object are not those of the URL, {stands}")
    return {**value, "metadata": metadata | stands}


def _field_conflict(place: Place, lost: list[tuple[Entry, fields.Path]]) -> Refusal:
    causes = [_conflict(entry, path) for entry, path in lost]
    words = "; ".join(f"{one['message']}: {one['field']}" for one in causes)
    message = f"Apply failed with {len(causes)} conflict{'s' * (len(causes) > 1)}: {words}"
    return Refusal(409, "Conflict", message, details(place.kind, place.name, causes))


def _conflict(entry: Entry, path: fields.Path) -> Json:
    by = f' with subresource "{entry.subresource}"' if entry.subresource else ""
    where = "".join(f".{name[2:]}" if name.startswith("f:") else f"[{_keys(name)}]" for name in path)
    return cause("FieldManagerConflict", where, f'conflict with "{entry.manager}"{by} using {entry.api_version}')


def _keys(element: str) -> str:
    """`name="takara"`, from the path element `k:{"name":"takara"}`."""
    return re.sub(r'"(\w+)":', r"\1=", element[3:-1])


def scale(kind: Kind, value: Json) -> Json:
    """An object's Scale."""
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
    """The object with the size of the Scale. Raises Refusal 400 where the Scale has a wrong type."""
    given = decode(wanted, schema_of("V1Scale"))
    spec = {**old["spec"], kind.size_field: given.get("spec", {}).get("replicas", 0)}
    known = {key: given.get("metadata", {}).get(key) for key in ("uid", "resourceVersion")}
    return {**old, "spec": spec, "metadata": {**old["metadata"], **known}}
