"""The rules of every write that need no store: what moves, what must match, what an endpoint may write."""

from __future__ import annotations

from typing import Any

from takara_sync.simulator.kinds import DEPLOYMENT, NAMESPACE, POD, REPLICA_SET, Kind
from takara_sync.simulator.wire import Json, bad_request, cause, conflict, invalid

_STALE = "the object has been modified; please apply your changes to the latest version and try again"


def changes_generation(kind: Kind, old: Json, new: Json) -> bool:
    """Whether a write means another desire: the spec, and a Deployment's annotations."""
    if kind == DEPLOYMENT and old["metadata"].get("annotations") != new["metadata"].get("annotations"):
        return True
    return bool(old.get("spec") != new.get("spec"))


def check_uid(kind: Kind, old: Json, new: Json) -> None:
    """Raises Refusal 422 where the write names another incarnation of the object."""
    wanted = new["metadata"].get("uid")
    if wanted and wanted != old["metadata"]["uid"]:
        told = cause("FieldValueInvalid", "metadata.uid", f'Invalid value: "{wanted}": field is immutable')
        raise invalid(kind, old["metadata"]["name"], [told])


def check_version(kind: Kind, old: Json, new: Json) -> None:
    """Raises Refusal 409 where the write was made for another resourceVersion."""
    wanted = new["metadata"].get("resourceVersion")
    if wanted not in (None, "", "0", old["metadata"]["resourceVersion"]):
        raise conflict(kind, old["metadata"]["name"], _STALE)


def fresh(kind: Kind, value: Json) -> Json:
    """A new object with the status that it starts with."""
    if not kind.subresources:
        return value
    without = {key: item for key, item in value.items() if key != "status"}
    if kind.custom:
        return without
    first: dict[Kind, Json] = {
        POD: {"phase": "Pending", "qosClass": "BestEffort"},
        NAMESPACE: {"phase": "Active"},
    }
    return {**without, "status": first.get(kind, {"replicas": 0} if kind == REPLICA_SET else {})}


def isolated(kind: Kind, old: Json, new: Json, subresource: str) -> Json:
    """The write without what its endpoint does not write: the status here, all but the status there."""
    if not kind.subresources:
        return new
    if subresource != "status":
        rest = {key: item for key, item in new.items() if key != "status"}
        return {**rest, "status": old["status"]} if "status" in old else rest
    metadata = new["metadata"]
    if kind.custom:  # nothing but the status and managedFields
        metadata = {**old["metadata"], "managedFields": metadata.get("managedFields", [])}
    else:
        metadata = {**metadata, "labels": old["metadata"].get("labels", {})}
    rest = {key: item for key, item in old.items() if key != "status"}
    return {**rest, "metadata": metadata, **({"status": new["status"]} if "status" in new else {})}


def same(old: Json, new: Json) -> bool:
    """Whether a write changes nothing but the times of managedFields."""
    return bool(_comparable(old) == _comparable(new))


def _comparable(value: Json) -> Any:
    fields = [{**item, "time": None} for item in value["metadata"].get("managedFields", [])]
    metadata = {**value["metadata"], "managedFields": fields, "resourceVersion": None}
    return {**value, "apiVersion": None, "kind": None, "metadata": metadata}


def required_version(kind: Kind, value: Json, name: str) -> None:
    """Raises Refusal 422 where the update of a custom resource names no resourceVersion."""
    if kind.custom and value["metadata"].get("resourceVersion") in (None, "", "0"):
        words = "Invalid value: 0: must be specified for an update"
        raise invalid(kind, name, [cause("FieldValueInvalid", "metadata.resourceVersion", words)])


def named(value: Json, kind: Kind, namespace: str, name: str = "") -> Json:
    """The body with its namespace, after the checks that it is of this kind and place.  Raises Refusal 400."""
    if value is None and not kind.custom:  # decoded into an empty object
        value = {}
    if not isinstance(value, dict) or not isinstance(value.get("metadata", {}), dict):
        raise bad_request("the object provided is unrecognized (must be of type Object)")
    unsaid = ("", "") if kind.custom else (kind.api_version, kind.kind)
    given = value.get("apiVersion", unsaid[0]), value.get("kind", unsaid[1])
    if given != (kind.api_version, kind.kind):
        raise bad_request(
            f"the API version in the data ({given[0]}, Kind={given[1]}) does not match the expected "
            f"API version ({kind.api_version}, Kind={kind.kind})"
        )
    metadata = dict(value.get("metadata") or {})
    if kind.namespaced and metadata.setdefault("namespace", namespace) != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if name and metadata.setdefault("name", name) != name:
        raise bad_request(f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})")
    return {**value, "metadata": metadata}
