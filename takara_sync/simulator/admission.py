"""Refusals of a written object: what cannot be decoded, what the schema or a rule of its kind does not allow."""

from __future__ import annotations

from collections.abc import Iterator

from takara_sync.simulator.kinds import DEPLOYMENT, Kind
from takara_sync.simulator.schemas import DUPLICATE, UNKNOWN, UNTYPED, mistakes, shaped
from takara_sync.simulator.wire import Json, Refusal, bad_request, cause


def check_decodable(kind: Kind, new: Json, old: Json | None, *, strict: bool) -> None:
    """Raises Refusal 400 for a wrong type (of a custom resource: only in its metadata); if `strict`, for an unknown
    field.
    """
    for found in mistakes(new, kind.schema, old):
        if found["reason"] == UNTYPED and (not kind.crd or found["field"].startswith("metadata")):
            raise bad_request(f"json: cannot unmarshal field {found['field']}: {found['message']}")
        if found["reason"] == UNKNOWN and strict:
            raise bad_request(f"strict decoding error: {found['message']}")


def stated(kind: Kind, value: Json) -> Json:
    """The applied object without nulls. Raises Refusal 500 without a reason for an unknown field or a wrong type."""
    for found in mistakes(value, kind.schema):
        if found["reason"] in (UNTYPED, DUPLICATE, UNKNOWN):
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
    if kind == DEPLOYMENT:
        selector, labels = new["spec"]["selector"], new["spec"]["template"]["metadata"].get("labels", {})
        if not selector.get("matchLabels", {}).items() <= labels.items():
            message = "`selector` does not match template `labels`"
            yield cause("FieldValueInvalid", "spec.template.metadata.labels", message)
        if selector != old["spec"]["selector"]:
            yield cause("FieldValueInvalid", "spec.selector", "field is immutable")
