"""The writes, from the request's words to the store's rules: create, put, the patches, apply, scale, delete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from takara_sync.simulator import ownership, patches
from takara_sync.simulator.admission import check_types, decode
from takara_sync.simulator.bodies import (
    APPLY,
    Place,
    applied_body,
    body_of,
    check_media_type,
    dry,
    field_conflict,
    media_type,
    unsupported,
)
from takara_sync.simulator.fieldsets import Entry
from takara_sync.simulator.objects import Objects
from takara_sync.simulator.rules import named, required_version
from takara_sync.simulator.scales import scale, scaled
from takara_sync.simulator.schema import without_unknown
from takara_sync.simulator.wire import Json, Refusal, Request, conflict, details, not_found

if TYPE_CHECKING:
    from collections.abc import Callable


_PATCHES: dict[str, Callable[[Any, Any], Any]] = {
    "application/json-patch+json": patches.json_patch,
    "application/merge-patch+json": patches.merge_patch,
    "application/strategic-merge-patch+json": patches.strategic_patch,
}


@dataclass(frozen=True)
class Written:
    """The outcome of a write: the HTTP status, the object (None: a Status of success), warnings."""

    status: int
    body: Json
    warnings: tuple[str, ...] = ()
    plain: bool = False  # no object of the kind: shown as it is


class Writes:
    """Carries writes out on the objects; each method answers or raises Refusal."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def create(self, place: Place, request: Request) -> Written:
        """POST."""
        value, warnings = self._body(place, request)
        if value["metadata"].get("resourceVersion"):
            raise Refusal(500, "", "resourceVersion should not be set on objects to be created")
        made = self._objects.create(place.kind, value, self._writer(place, request), dry_run=dry(request))
        return Written(201, made, tuple(warnings))

    def put(self, place: Place, request: Request) -> Written:
        """PUT: the whole object; a uid in it is a precondition."""
        if place.subresource == "scale":
            return self._scale(place, request, body_of(request))
        value, warnings = self._body(place, request)
        old = self._objects.find(*place[:3])
        required_version(place.kind, value, place.name)
        if (uid := value["metadata"].get("uid")) and uid != old["metadata"]["uid"]:
            raise conflict(
                place.kind,
                place.name,
                f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old['metadata']['uid']}",
            )
        return Written(200, self._update(place, request, old, value), tuple(warnings))

    def patch(self, place: Place, request: Request) -> Written:
        """PATCH of any type that the kind has."""
        media = media_type(request)
        if media == APPLY and place.subresource != "scale":
            return self._apply(place, request)
        accepted = [one for one in _PATCHES if not (place.kind.custom and "strategic" in one)]
        if media not in accepted:
            raise unsupported([*accepted, APPLY])
        old = self._objects.find(*place[:3])
        said = body_of(request)
        if place.subresource == "scale":
            return self._scale(place, request, _PATCHES[media](scale(place.kind, old), said))
        value = named(_PATCHES[media](old, said), *place[:3])
        required_version(place.kind, value, place.name)
        value, warnings = decode(place.kind, value, request.query.get("fieldValidation", "Warn"))
        return Written(200, self._update(place, request, old, value), tuple(warnings))

    def _apply(self, place: Place, request: Request) -> Written:
        wanted = applied_body(place, request)
        if not place.kind.custom:
            wanted = without_unknown(wanted, place.kind.model)  # nulls state nothing
        writer = self._writer(place, request, operation="Apply")
        live = self._objects.get(*place[:3])
        if live is None:
            return self._apply_new(place, request, wanted, writer)
        entries = self._objects.entries(live, live) or self._objects.before_first_apply(place.kind, live, writer)
        force = request.query.get("force") == "true"
        try:
            value, entries = ownership.applied(entries, live, wanted, writer, force=force)
        except ownership.Contested as contested:
            raise field_conflict(place, contested) from contested
        return Written(
            200, self._objects.update(place.kind, live, value, writer, entries=entries, dry_run=dry(request))
        )

    def _apply_new(self, place: Place, request: Request, wanted: Json, writer: Entry) -> Written:
        if place.subresource:
            raise not_found(place.kind, place.name)
        if uid := wanted["metadata"].get("uid"):
            raise conflict(
                place.kind,
                place.name,
                f"uid mismatch: the provided object specified uid {uid}, and no existing object was found",
            )
        value, entries = ownership.applied([], {}, wanted, writer, force=False)
        return Written(201, self._objects.create(place.kind, value, writer, entries=entries, dry_run=dry(request)))

    def _scale(self, place: Place, request: Request, wanted: Json) -> Written:
        old = self._objects.find(*place[:3])
        value = scaled(place.kind, old, wanted)
        return Written(200, scale(place.kind, self._update(place, request, old, value)), plain=True)

    def delete(self, place: Place, request: Request) -> Written:
        """DELETE of one object, with its options in the body or the query."""
        kind, name = place.kind, place.name
        old = self._objects.find(*place[:3])
        options = (body_of(request) if request.body.strip() else None) or {}
        check_types(options, "V1DeleteOptions")
        for key, wanted in (options.get("preconditions") or {}).items():
            if wanted is not None and wanted != old["metadata"].get(key):
                words = {"uid": "UID", "resourceVersion": "ResourceVersion"}.get(key, key)
                raise conflict(
                    kind,
                    name,
                    f"Precondition failed: {words} in precondition: {wanted}, {words} in object "
                    f"meta: {old['metadata'].get(key)}",
                )
        policy = options.get("propagationPolicy") or request.query.get("propagationPolicy", "Background")
        kept = self._objects.delete(kind, old, policy, dry_run=dry(request, options))
        if kept is not None:
            return Written(200, kept)
        return Written(
            200,
            {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Success",
                "details": {**details(kind, name), "uid": old["metadata"]["uid"]},
            },
            plain=True,
        )

    def _body(self, place: Place, request: Request) -> tuple[Json, list[str]]:
        check_media_type(request)
        value = named(body_of(request), *place[:3])
        return decode(place.kind, value, request.query.get("fieldValidation", "Warn"))

    def _update(self, place: Place, request: Request, old: Json, value: Json) -> Json:
        return self._objects.update(place.kind, old, value, self._writer(place, request), dry_run=dry(request))

    def _writer(self, place: Place, request: Request, operation: str = "Update") -> Entry:
        manager = request.query.get("fieldManager") or request.headers.get("user-agent", "").partition("/")[0]
        time = None if place.subresource == "scale" else self._objects.time()  # as the real one: no time on scale
        return Entry(manager or "unknown", operation, place.kind.api_version, place.subresource, time)
