"""The objects, and the rules of every write: versions, generations, uids, ownership, deletion.

Nothing stored is ever changed in place: a write builds a new object and puts it there last, so that a refusal leaves
the store as it was and a list, once taken, stays true.
"""

from __future__ import annotations

import random
import uuid
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from takara_sync.simulator import fields
from takara_sync.simulator.admission import admit
from takara_sync.simulator.fields import SYSTEM, Entry
from takara_sync.simulator.kinds import DEPLOYMENT, EVENT, NAMESPACE, POD, REPLICA_SET, Kind
from takara_sync.simulator.wire import Json, cause, invalid, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

_TEMPLATE: Json = {"metadata": {}, "spec": {"containers": []}}
# What has no owner of its own in a new built-in object, and the status that it starts with.
_BLANK: Json = {"metadata": {}, "spec": {"strategy": {}, "template": _TEMPLATE}, "status": {}}
_FIRST: dict[Kind, Json] = {
    DEPLOYMENT: {},
    REPLICA_SET: {"replicas": 0},
    POD: {"phase": "Pending", "qosClass": "BestEffort"},
    NAMESPACE: {"phase": "Active"},
}


class Objects:
    """All objects by kind, namespace and name; `now` is asked for each timestamp, `seed` makes uids repeatable.

    `kinds` are those that there can be: controllers write by their rules too.
    """

    def __init__(self, now: Callable[[], datetime], seed: int | None = None, kinds: tuple[Kind, ...] = ()) -> None:
        self.version = 1
        self.kinds = kinds
        self._random = random.Random(seed)  # noqa: S311 - uids and pod names, not secrets
        self._now = now
        self._held: dict[Kind, dict[tuple[str, str], Json]] = {}

    def time(self) -> str:
        """Now, as timestamps are written: UTC, whole seconds."""
        return self._now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        """The object, or None."""
        return self._held.get(kind, {}).get((namespace if kind.namespaced else "", name))

    def find(self, kind: Kind, namespace: str, name: str) -> Json:
        """The object.  Raises Refusal 404."""
        if (found := self.get(kind, namespace, name)) is None:
            raise refused(404, "NotFound", kind, name, "not found")
        return found

    def all(self, kind: Kind, namespace: str = "") -> list[Json]:
        """Every object of a kind in the order of etcd's keys; of one namespace where one is given."""
        held = self._held.get(kind, {})
        keys = sorted(held, key="/".join)
        return [held[key] for key in keys if not namespace or key[0] == namespace]

    @contextmanager
    def trial(self) -> Iterator[None]:
        """What is written in here is forgotten: a dry run."""
        version, held = self.version, {kind: {**found} for kind, found in self._held.items()}
        try:
            yield
        finally:
            self.version, self._held = version, held

    def create(self, kind: Kind, value: Json, writer: Entry, entries: list[Entry] | None = None) -> Json:
        """Stores a new object.  Raises Refusal: 404 or 403 for its namespace, 409 where there is one, 422."""
        said = value["metadata"]
        name = said.get("name") or self._generated(said.get("generateName", ""))
        metadata = {key: item for key, item in said.items() if key not in SYSTEM} | {"name": name}
        if kind.namespaced:
            metadata["namespace"] = said["namespace"]
            self._check_namespace(kind, metadata)
        if self.get(kind, metadata.get("namespace", ""), name):
            raise refused(409, "AlreadyExists", kind, name, "already exists")
        uid = uuid.UUID(int=self._random.getrandbits(128), version=4)
        metadata |= {"uid": str(uid), "creationTimestamp": self.time()}
        metadata |= {} if kind in (NAMESPACE, EVENT) else {"generation": 1}
        rest = {key: item for key, item in value.items() if key != "status" or not kind.subresources}
        first = {"status": _FIRST[kind]} if kind in _FIRST else {}
        new = admit(kind, {**rest, **first, "metadata": metadata}, None)
        return self._put(kind, self._with_fields(kind, {}, new, writer, entries))

    def _generated(self, prefix: str) -> str:
        """A name from `generateName`: at most 63 characters, five of them random.  Empty where there is no prefix."""
        return prefix[:58] + "".join(self._random.choices("bcdfghjklmnpqrstvwxz2456789", k=5)) if prefix else ""

    def _check_namespace(self, kind: Kind, metadata: Json) -> None:
        namespace = metadata["namespace"]
        if "deletionTimestamp" in self.find(NAMESPACE, "", namespace)["metadata"]:
            words = f"namespace {namespace} is being terminated"
            causes = [cause("NamespaceTerminating", "metadata.namespace", words)]
            raise refused(403, "Forbidden", kind, metadata["name"], f"is forbidden: {words}", causes)

    def update(self, kind: Kind, old: Json, value: Json, writer: Entry, entries: list[Entry] | None = None) -> Json:
        """Stores a changed object; where nothing changes, nothing moves.

        `entries` are the owners after an apply; else they follow from what changed.  Raises Refusal 409 for a stale
        resourceVersion, 422.
        """
        check_version(kind, old, value)
        new = isolated(kind, old, value, writer.subresource)
        check_uid(kind, old, new)
        kept = {key: old["metadata"][key] for key in SYSTEM if key in old["metadata"]}
        stated = {key: item for key, item in new["metadata"].items() if key not in SYSTEM and item not in ({}, [])}
        new = admit(kind, {**new, "metadata": stated | kept}, old)
        new = self._with_fields(kind, old, new, writer, entries)
        if same(old, new):
            return old
        if writer.subresource != "status" and changes_generation(kind, old, new) and "generation" in kept:
            new["metadata"]["generation"] = old["metadata"]["generation"] + 1
        return self._put(kind, new)

    def _with_fields(self, kind: Kind, old: Json, new: Json, writer: Entry, entries: list[Entry] | None) -> Json:
        metadata = {key: item for key, item in new["metadata"].items() if key != "managedFields"}
        if "scale" in kind.subresources:
            if entries is None:
                live = self.entries(old, new)
                # A server adds no entry to an object whose entries were cleared, until the first apply.
                entries = fields.updated(live, old or blank(kind), new, writer) if live or not old else []
            if encoded := fields.encode(entries):
                metadata["managedFields"] = encoded
        return {**new, "metadata": metadata}

    def entries(self, old: Json, new: Json) -> list[Entry]:
        """Who owns what before a write: what the writer says in managedFields, else what is stored."""
        said = new["metadata"].get("managedFields")
        if said == [{}]:  # how a client clears them
            return []
        for stated in (said, old.get("metadata", {}).get("managedFields")):
            try:
                if found := fields.decode(stated or []):
                    return found
            except (KeyError, TypeError, AttributeError):
                continue
        return []

    def before_first_apply(self, kind: Kind, live: Json, writer: Entry) -> list[Entry]:
        """The entry that keeps what an object without managedFields held before its first apply."""
        return fields.updated([], blank(kind), live, replace(writer, manager="before-first-apply", operation="Update"))

    def delete(self, kind: Kind, old: Json, policy: str = "Background") -> Json | None:
        """Deletes an object; answers it where finalizers keep it for now, else None."""
        metadata = old["metadata"]
        added = {"Foreground": ["foregroundDeletion"], "Orphan": ["orphan"]}.get(policy, [])
        finalizers = list(dict.fromkeys([*metadata.get("finalizers", []), *added]))
        if not finalizers and kind != NAMESPACE:
            self.remove(kind, old)
            return None
        marked = {**metadata, **({"finalizers": finalizers} if finalizers else {})}
        if "deletionTimestamp" not in metadata:
            marked |= {"deletionTimestamp": self.time(), "deletionGracePeriodSeconds": 0}
            marked |= {"generation": metadata["generation"] + 1} if "generation" in metadata else {}
        new = {**old, "metadata": marked, **({"status": {"phase": "Terminating"}} if kind == NAMESPACE else {})}
        return old if same(old, new) else self._put(kind, new)

    def remove(self, kind: Kind, old: Json) -> None:
        """Takes an object away without asking, as the last finalizer's end does."""
        self.version += 1
        del self._held[kind][(old["metadata"].get("namespace", ""), old["metadata"]["name"])]

    def _put(self, kind: Kind, new: Json) -> Json:
        self.version += 1
        metadata = {**new["metadata"], "resourceVersion": str(self.version)}
        stored = {"apiVersion": kind.api_version, "kind": kind.kind, **new, "metadata": metadata}
        self._held.setdefault(kind, {})[metadata.get("namespace", ""), metadata["name"]] = stored
        if "deletionTimestamp" in metadata and not metadata.get("finalizers") and kind != NAMESPACE:
            self.remove(kind, stored)
        return stored


def blank(kind: Kind) -> Json:
    """What nobody owns for having created it."""
    return {} if kind.crd else _BLANK


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
    if new["metadata"].get("resourceVersion") not in (None, "", "0", old["metadata"]["resourceVersion"]):
        raise refused(409, "Conflict", kind, old["metadata"]["name"], "has been modified; please apply to the latest")


def isolated(kind: Kind, old: Json, new: Json, subresource: str) -> Json:
    """The write without what its endpoint does not write: the status here, all but the status there."""
    if not kind.subresources:
        return new
    status, rest, metadata = (new, old, old["metadata"]) if subresource == "status" else (old, new, new["metadata"])
    if subresource == "status" and kind.crd:  # nothing but the status and managedFields
        metadata = {**metadata, "managedFields": new["metadata"].get("managedFields", [])}
    elif subresource == "status":
        metadata = {**new["metadata"], "labels": metadata.get("labels", {})}
    kept = {key: item for key, item in rest.items() if key != "status"} | {"metadata": metadata}
    return kept | ({"status": status["status"]} if "status" in status else {})


def same(old: Json, new: Json) -> bool:
    """Whether a write changes nothing but the times of managedFields."""

    def comparable(value: Json) -> Json:
        entries = [{**item, "time": None} for item in value["metadata"].get("managedFields", [])]
        metadata = {**value["metadata"], "managedFields": entries, "resourceVersion": None}
        return {**value, "apiVersion": None, "kind": None, "metadata": metadata}

    return comparable(old) == comparable(new)
