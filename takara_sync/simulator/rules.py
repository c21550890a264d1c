"""The rules of a write that need only the old and the new object: versions, generations, uids, subresources. Pure."""

from __future__ import annotations

from takara_sync.simulator.kinds import DEPLOYMENT, Json, Kind
from takara_sync.simulator.wire import cause, invalid, refused

_TEMPLATE: Json = {"metadata": {}, "spec": {"containers": []}}
_BLANK: Json = {"metadata": {}, "spec": {"strategy": {}, "template": _TEMPLATE}, "status": {}}


def blank(kind: Kind) -> Json:
    """The part of a new object that its creator does not own."""
    return {} if kind.crd else _BLANK


def changes_generation(kind: Kind, old: Json, new: Json) -> bool:
    """Whether a write moves metadata.generation: by the spec, and by a Deployment's annotations."""
    annotated = old["metadata"].get("annotations") != new["metadata"].get("annotations")
    return old.get("spec") != new.get("spec") or (kind == DEPLOYMENT and annotated)


def check_uid(kind: Kind, old: Json, new: Json) -> None:
    """Raises Refusal 422 where the write names another incarnation of the object."""
    wanted = new["metadata"].get("uid")
    if wanted and wanted != old["metadata"]["uid"]:
        found = cause("FieldValueInvalid", "metadata.uid", f'Invalid value: "{wanted}": field is immutable')
        raise invalid(kind, old["metadata"]["name"], [found])


def check_version(kind: Kind, old: Json, new: Json) -> None:
    """Raises Refusal 409 where the write was made for another resourceVersion."""
    if new["metadata"].get("resourceVersion") not in (None, "", "0", old["metadata"]["resourceVersion"]):
        raise refused(409, "Conflict", kind, old["metadata"]["name"], "has been modified; please apply to the latest")


def isolated(old: Json, new: Json, subresource: str) -> Json:
    """The write without what its endpoint does not write: /status writes the status only, the object all but that."""
    status, rest = (new, old) if subresource == "status" else (old, new)
    kept = {key: item for key, item in rest.items() if key != "status"}
    return kept | ({"status": status["status"]} if "status" in status else {})


def same(old: Json, new: Json) -> bool:
    """Whether a write changes nothing but the times of managedFields."""

    def comparable(value: Json) -> Json:
        entries = [{**item, "time": None} for item in value["metadata"].get("managedFields", [])]
        return {**value, "metadata": {**value["metadata"], "managedFields": entries, "resourceVersion": None}}

    return comparable(old) == comparable(new)
