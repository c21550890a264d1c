"""The objects, and the rules of every write: versions, generations, uids, ownership, admission, deletion.

Nothing stored is ever changed in place: a write builds a new object and stores it last. So a refusal leaves everything
as it was, a list stays true once it is taken, and a snapshot copies references only.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from copy import deepcopy
from datetime import datetime

from takara_sync.simulator import fields
from takara_sync.simulator.admission import shaped, validate
from takara_sync.simulator.kinds import DEPLOYMENT, NAMESPACE, Kind
from takara_sync.simulator.wire import Json, cause
from takara_sync.text import rfc3339

AdmissionHook = Callable[[Json], Json]
"""Gets the object that is about to be stored, with defaults and with the managedFields of the write.

It may change the object in place. Returns the object to store; raises Refusal to refuse the write.
"""


Snapshot = tuple[int, dict[str, dict[str, Json]]]
"""All objects at one moment, after the version; only `restore` looks into it."""


class Objects:
    """All objects of a cluster.

    held: the objects by plural and `namespace/name`. kinds: those that there can be. lock: for one request or one step
    of the controllers at a time. now: asked for each timestamp; may be replaced at any time. seed: makes uids and
    generated names repeatable.
    """

    def __init__(self, kinds: tuple[Kind, ...], now: Callable[[], datetime], seed: int | None = None) -> None:
        self.kinds = kinds
        self.now = now
        self.admission: list[AdmissionHook] = []
        self.lock = threading.RLock()
        self.version = 1
        self.held: dict[str, dict[str, Json]] = {kind.plural: {} for kind in kinds}
        self._origin = uuid.uuid4() if seed is None else uuid.UUID(int=seed)

    def time(self) -> str:
        """Now, as timestamps are written."""
        return rfc3339(self.now())

    def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        """The object, or None."""
        return self.held[kind.plural].get(f"{namespace if kind.namespaced else ''}/{name}")

    def find(self, kind: Kind, namespace: str, name: str) -> Json:
        """The object. Raises Refusal 404."""
        if (found := self.get(kind, namespace, name)) is None:
            raise kind.refusal(404, "NotFound", name, "not found")
        return found

    def all(self, kind: Kind, namespace: str = "") -> list[Json]:
        """Every object of a kind in the order of etcd's keys; of one namespace where one is given."""
        held, prefix = self.held[kind.plural], f"{namespace}/" if namespace else ""
        return [held[key] for key in sorted(held) if key.startswith(prefix)]

    def snapshot(self) -> Snapshot:
        """The objects as they are now, and the version counter; costs much less than a microsecond an object."""
        with self.lock:
            return self.version, {plural: {**held} for plural, held in self.held.items()}

    def restore(self, snapshot: Snapshot) -> None:
        """Goes back to a snapshot, as often as wanted; one of another Store makes this its twin."""
        with self.lock:
            self.version, held_then = snapshot
            self.held = {plural: {**held} for plural, held in held_then.items()}

    def write(
        self, kind: Kind, old: Json | None, value: Json, writer: fields.Entry, owners: list[fields.Entry] | None = None
    ) -> Json:
        """Stores a new object, or a changed one in place of `old`; where nothing changes, nothing moves.

        owners: those after an apply; otherwise they follow from what changed. Raises Refusal: 404 for the namespace of
        a new object, 409 where there is one already, or for a stale resourceVersion; 422.
        """
        new = _written(old or kind.first, value, writer.subresource)
        identity = _checked(kind, old, value, new) if old else self._created(kind, value["metadata"])
        new = self._admitted(kind, old, _completed(kind, old, new, identity, writer, owners), writer)
        if old and _timeless(old) == _timeless(new):
            return old
        if old and writer.subresource != "status" and _moves_generation(kind, old, new):
            new["metadata"]["generation"] += 1
        return self._put(kind, new)

    def _created(self, kind: Kind, given: Json) -> Json:
        """The metadata that the server gives to a new object. Raises Refusal: 404 for its namespace, 409."""
        uid, namespace = str(uuid.uuid5(self._origin, str(self.version))), given.get("namespace", "")
        name = given.get("name") or (f"{given['generateName'][:58]}{uid[:5]}" if given.get("generateName") else "")
        if namespace:
            self.find(NAMESPACE, "", namespace)
        if self.get(kind, namespace, name):
            raise kind.refusal(409, "AlreadyExists", name, "already exists")
        named = {"name": name, "namespace": namespace} if kind.namespaced else {"name": name}
        return {**named, "uid": uid, "creationTimestamp": self.time(), "generation": 1}

    def _admitted(self, kind: Kind, old: Json | None, new: Json, writer: fields.Entry) -> Json:
        """The object after the admission hooks; who owns what has been settled before. Raises Refusal 422."""
        for hook in () if writer.subresource else self.admission:
            new = shaped(hook(deepcopy(new)), kind.schema)
        validate(kind, new, old)
        return new

    def delete(self, kind: Kind, old: Json, policy: str = "Background") -> Json | None:
        """Deletes an object; returns it where finalizers keep it for now, else None."""
        metadata = old["metadata"]
        added = {"Foreground": ["foregroundDeletion"], "Orphan": ["orphan"]}.get(policy, [])
        finalizers = list(dict.fromkeys([*metadata.get("finalizers", []), *added]))
        first = {"deletionTimestamp": self.time(), "generation": metadata["generation"] + 1}
        marked = {} if "deletionTimestamp" in metadata else first
        new = {**old, "metadata": {**metadata, **marked, "finalizers": finalizers}}
        stored = old if new == old else self._put(kind, new)
        return stored if finalizers else None

    def _put(self, kind: Kind, new: Json) -> Json:
        """Stores an object; one that waits for its last finalizer only is gone."""
        self.version += 1
        metadata = {**new["metadata"], "resourceVersion": str(self.version)}
        held, key = self.held[kind.plural], f"{metadata.get('namespace', '')}/{metadata['name']}"
        held[key] = {**new, "metadata": metadata}
        gone = "deletionTimestamp" in metadata and not metadata.get("finalizers")
        return held.pop(key) if gone else held[key]


def _written(old: Json, new: Json, subresource: str) -> Json:
    """The write without what its endpoint does not write: /status writes the status only, the object all but that."""
    status, rest = (new, old) if subresource == "status" else (old, new)
    kept = {key: item for key, item in rest.items() if key != "status"}
    return kept | ({"status": status["status"]} if "status" in status else {})


def _checked(kind: Kind, old: Json, value: Json, new: Json) -> Json:
    """The metadata that the server keeps.

    Raises Refusal: 409 if the write was made for another resourceVersion, 422 if for another incarnation of the object.
    """
    kept = {key: old["metadata"][key] for key in fields.SYSTEM if key in old["metadata"]}
    if value["metadata"].get("resourceVersion") not in (None, "", "0", kept["resourceVersion"]):
        raise kind.refusal(409, "Conflict", kept["name"], "has been modified; please apply to the latest")
    if new["metadata"].get("uid") not in (None, "", kept["uid"]):
        raise kind.invalid(kept["name"], [cause("FieldValueInvalid", "metadata.uid", "field is immutable")])
    return kept


def _completed(
    kind: Kind, old: Json | None, new: Json, identity: Json, writer: fields.Entry, owners: list[fields.Entry] | None
) -> Json:
    """The object with defaults, owners, and the metadata that the server keeps."""
    metadata = {key: item for key, item in new["metadata"].items() if key not in fields.SYSTEM and item not in ({}, [])}
    head = {"apiVersion": kind.api_version, "kind": kind.kind}
    new = shaped({**new, **head, "metadata": metadata | identity}, kind.schema)
    if kind.applicable:
        stated = new["metadata"].pop("managedFields", None) or (old["metadata"].get("managedFields") if old else None)
        if owners is None:
            live = fields.decode(stated or [])
            # A server adds no entry to an object whose entries were cleared, until the first apply.
            owners = fields.updated(live, old or kind.unowned, new, writer) if live or not old else []
        new["metadata"] |= {"managedFields": encoded} if (encoded := fields.encode(owners)) else {}
    return new


def _timeless(value: Json) -> Json:
    """The object without the times of its managedFields."""
    entries = [{**entry, "time": None} for entry in value["metadata"].get("managedFields", [])]
    return {**value, "metadata": {**value["metadata"], "managedFields": entries}}


def _moves_generation(kind: Kind, old: Json, new: Json) -> bool:
    annotated = old["metadata"].get("annotations") != new["metadata"].get("annotations")
    return old.get("spec") != new.get("spec") or (kind == DEPLOYMENT and annotated)
