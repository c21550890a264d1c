"""What a write request says: its place, its body, its options; and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import yaml

from takara_sync.simulator.admission import check_applied
from takara_sync.simulator.kinds import Kind
from takara_sync.simulator.rules import named
from takara_sync.simulator.wire import Json, Refusal, Request, bad_request, cause, details, not_served

if TYPE_CHECKING:
    from takara_sync.simulator.ownership import Contested

APPLY = "application/apply-patch+yaml"
_BODIES = ("", "application/json", "application/yaml", "*/*")


class Place(NamedTuple):
    """What a path names."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def media_type(request: Request) -> str:
    """The Content-Type without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip()


def body_of(request: Request) -> Any:
    """The decoded body; JSON is YAML too, but much faster.  Raises Refusal 400."""
    try:
        return msgspec.json.decode(request.body)
    except msgspec.DecodeError as error:
        if not media_type(request).endswith("yaml"):
            raise bad_request(f"the object provided is unrecognized: {error}") from error
    try:
        return yaml.safe_load(request.body)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise bad_request(f"error decoding YAML: {error}") from error


def unsupported(accepted: list[str]) -> Refusal:
    """415, with what would have been taken."""
    return Refusal(
        415,
        "UnsupportedMediaType",
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}",
    )


def check_media_type(request: Request) -> None:
    """Raises Refusal 415 where the body of a POST or PUT is neither JSON nor YAML."""
    if media_type(request) not in _BODIES:
        raise unsupported(list(_BODIES[1:3]))


def applied_body(place: Place, request: Request) -> Json:
    """The body of an apply, after the checks that come before any merge.  Raises Refusal."""
    kind = place.kind
    if not kind.tracked:
        raise not_served(f"server-side apply of {kind.plural}")
    if not request.query.get("fieldManager"):
        refused = cause("FieldValueRequired", "fieldManager", "Required value: is required for apply patch")
        raise Refusal(
            422,
            "Invalid",
            'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
            {"group": "meta.k8s.io", "kind": "PatchOptions", "causes": [refused]},
        )
    said = body_of(request)
    if not isinstance(said, dict):
        raise bad_request("error decoding YAML: the body is no object")
    if not said.get("apiVersion") or not said.get("kind"):
        raise bad_request("invalid object type: /, Kind=")
    wanted = named(said, *place[:3])
    if wanted["metadata"].get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    check_applied(kind, wanted, f"{place.namespace}/{place.name}")
    return wanted


def dry(request: Request, options: Json | None = None) -> bool:
    """Whether nothing is to be stored.  Raises Refusal 422 for a value that is not `All`."""
    said = request.query.get("dryRun") or "".join((options or {}).get("dryRun") or [])
    if said not in ("", "All"):
        words = f'Unsupported value: "{said}": supported values: "All"'
        raise Refusal(
            422,
            "Invalid",
            f'Options.meta.k8s.io "" is invalid: dryRun: {words}',
            {"causes": [cause("FieldValueNotSupported", "dryRun", words)]},
        )
    return bool(said)


def field_conflict(place: Place, contested: Contested) -> Refusal:
    """409 with a cause for each field that another manager holds."""
    causes = []
    for entry, path in contested.fields:
        by = f' with subresource "{entry.subresource}"' if entry.subresource else ""
        shown = "".join(f".{one[2:]}" if one.startswith("f:") else f"[{_key(one)}]" for one in path)
        causes.append(
            cause(
                "FieldManagerConflict",
                shown,
                f'conflict with "{entry.manager}"{by} using {entry.api_version}',
            )
        )
    told = "; ".join(f"{one['message']}: {one['field']}" for one in causes)
    plural = "" if len(causes) == 1 else "s"
    return Refusal(
        409,
        "Conflict",
        f"Apply failed with {len(causes)} conflict{plural}: {told}",
        {**details(place.kind, place.name), "causes": causes} if causes else {},
    )


def _key(element: str) -> str:
    return ",".join(f'{key}="{value}"' for key, value in msgspec.json.decode(element[2:]).items())
