"""The objects, and the rules of every write: versions, generations, uids, ownership, admission, deletion.

Nothing stored is ever changed in place: a write builds a new object and stores it last. So a refusal leaves everything
as it was, a list stays true once it is taken, and a snapshot copies references only.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from takara_sync.simulator import fields, rules
from takara_sync.simulator.admission import defaulted, validate
from takara_sync.simulator.fields import SYSTEM, Entry
from takara_sync.simulator.kinds import DEPLOYMENT, NAMESPACE, POD, REPLICA_SET, Json, Kind
from takara_sync.simulator.wire import refused

# The status that a new built-in object starts with.
_FIRST: dict[Kind, Json] = {
    DEPLOYMENT: {"status": {}},
    REPLICA_SET: {"status": {"replicas": 0}},
    POD: {"status": {"phase": "Pending"}},
    NAMESPACE: {"status": {"phase": "Active"}},
}


class AdmissionReview(NamedTuple):
    """What an admission hook decides about: one object that is about to be created or updated.

    manager: the field manager of the write. old: the stored object, None for a create.
    new: the object to store, with defaults and with the managedFields of this write; the hook may change it in place.
    """

    manager: str
    old: Json | None
    new: Json


AdmissionHook = Callable[[AdmissionReview], Json]
"""Returns the object to store instead of `new`; raises Refusal to refuse the write."""


class Snapshot(NamedTuple):
    """All objects at one moment; `Store.snapshot` says what else is in it."""

    version: int
    held: dict[Kind, dict[tuple[str, str], Json]]
    random: tuple[Any, ...]


class Objects:
    """All objects by kind, namespace and name; `now` is asked for each timestamp, `seed` makes uids repeatable.

    `kinds` are those that there can be: controllers write by their rules too.
    """

    def __init__(self, now: Callable[[], datetime], seed: int | None = None, kinds: tuple[Kind, ...] = ()) -> None:
        self.version = 1
        self.kinds = kinds
        self.admission: list[AdmissionHook] = []
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
        """The object. Raises Refusal 404."""
        if (found := self.get(kind, namespace, name)) is None:
            raise refused(404, "NotFound", kind, name, "not found")
        return found

    def all(self, kind: Kind, namespace: str = "") -> list[Json]:
        """Every object of a kind in the order of etcd's keys; of one namespace where one is given."""
        held = self._held.get(kind, {})
        keys = sorted(held, key="/".join)
        return [held[key] for key in keys if not namespace or key[0] == namespace]

    def snapshot(self) -> Snapshot:
        """Everything as it is now."""
        return Snapshot(self.version, {kind: {**held} for kind, held in self._held.items()}, self._random.getstate())

    def restore(self, snapshot: Snapshot) -> None:
        """Everything as it was then."""
        self.version, self._held = snapshot.version, {kind: {**held} for kind, held in snapshot.held.items()}
        self._random.setstate(snapshot.random)

    def put(self, value: Json) -> None:
        """Stores an object as it is given, without any check; `Store.put` says the rest."""
        kind = {kind.kind: kind for kind in self.kinds}[value["kind"]]
        given = deepcopy({**_FIRST.get(kind, {}), **value})
        namespace = given["metadata"]["namespace"] if kind.namespaced else ""
        if namespace and not self.get(NAMESPACE, "", namespace):
            self.put({"kind": NAMESPACE.kind, "metadata": {"name": namespace}})
        first = {"uid": self._uid(), "creationTimestamp": self.time(), "generation": 1}
        self._put(kind, {"apiVersion": kind.api_version, **given, "metadata": {**first, **given["metadata"]}})

    def create(self, kind: Kind, value: Json, writer: Entry, entries: list[Entry] | None = None) -> Json:
        """Stores a new object. Raises Refusal: 404 for its namespace, 409 where there is one, 422."""
        given = value["metadata"]
        name = given.get("name") or self._generated(given.get("generateName", ""))
        metadata = {key: item for key, item in given.items() if key not in SYSTEM} | {"name": name, "generation": 1}
        if kind.namespaced:
            metadata["namespace"] = given["namespace"]
            self.find(NAMESPACE, "", given["namespace"])
        if self.get(kind, metadata.get("namespace", ""), name):
            raise refused(409, "AlreadyExists", kind, name, "already exists")
        metadata |= {"uid": self._uid(), "creationTimestamp": self.time()}
        rest = {key: item for key, item in value.items() if key != "status"}
        new = defaulted(kind, {**rest, **_FIRST.get(kind, {}), "metadata": metadata})
        return self._put(kind, self._admitted(kind, None, self._with_fields(kind, {}, new, writer, entries), writer))

    def _uid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def _generated(self, prefix: str) -> str:
        """A name from `generateName`: at most 63 characters, five of them random. Empty where there is no prefix."""
        return prefix[:58] + "".join(self._random.choices("bcdfghjklmnpqrstvwxz2456789", k=5)) if prefix else ""

    def update(self, kind: Kind, old: Json, value: Json, writer: Entry, entries: list[Entry] | None = None) -> Json:
        """Stores a changed object; where nothing changes, nothing moves.

        `entries` are the owners after an apply; otherwise they follow from what changed. Raises Refusal 409 for a stale
        resourceVersion, 422.
        """
        rules.check_version(kind, old, value)
        new = rules.isolated(old, value, writer.subresource)
        rules.check_uid(kind, old, new)
        kept = {key: old["metadata"][key] for key in SYSTEM if key in old["metadata"]}
        stated = {key: item for key, item in new["metadata"].items() if key not in SYSTEM and item not in ({}, [])}
        new = self._with_fields(kind, old, defaulted(kind, {**new, "metadata": stated | kept}), writer, entries)
        new = self._admitted(kind, old, new, writer)
        if rules.same(old, new):
            return old
        if writer.subresource != "status" and rules.changes_generation(kind, old, new):
            new["metadata"]["generation"] = old["metadata"]["generation"] + 1
        return self._put(kind, new)

    def _admitted(self, kind: Kind, old: Json | None, new: Json, writer: Entry) -> Json:
        """The object after the admission hooks; who owns what has been settled before. Raises Refusal 422."""
        for hook in () if writer.subresource else self.admission:
            new = defaulted(kind, hook(AdmissionReview(writer.manager, deepcopy(old), deepcopy(new))))
        validate(kind, new, old or new)
        return new

    def _with_fields(self, kind: Kind, old: Json, new: Json, writer: Entry, entries: list[Entry] | None) -> Json:
        metadata = {key: item for key, item in new["metadata"].items() if key != "managedFields"}
        if "scale" in kind.subresources:
            if entries is None:
                live = self.entries(old, new)
                # A server adds no entry to an object whose entries were cleared, until the first apply.
                entries = fields.updated(live, old or rules.blank(kind), new, writer) if live or not old else []
            if encoded := fields.encode(entries):
                metadata["managedFields"] = encoded
        return {**new, "metadata": metadata}

    def entries(self, old: Json, new: Json) -> list[Entry]:
        """Who owns what before a write: by the managedFields of the write, else by the stored ones."""
        given = new["metadata"].get("managedFields")
        if given == [{}]:  # how a client clears them
            return []
        for stated in (given, old.get("metadata", {}).get("managedFields")):
            with suppress(KeyError, TypeError, AttributeError):  # malformed entries count as none
                if found := fields.decode(stated or []):
                    return found
        return []

    def before_first_apply(self, kind: Kind, live: Json, writer: Entry) -> list[Entry]:
        """The entry for what an object without managedFields held before its first apply."""
        return fields.updated(
            [], rules.blank(kind), live, replace(writer, manager="before-first-apply", operation="Update")
        )

    def delete(self, kind: Kind, old: Json, policy: str = "Background") -> Json | None:
        """Deletes an object; returns it where finalizers keep it for now, else None."""
        metadata = old["metadata"]
        added = {"Foreground": ["foregroundDeletion"], "Orphan": ["orphan"]}.get(policy, [])
        finalizers = list(dict.fromkeys([*metadata.get("finalizers", []), *added]))
        marked = {**metadata, "finalizers": finalizers}
        if "deletionTimestamp" not in metadata:
            marked |= {"deletionTimestamp": self.time(), "generation": metadata["generation"] + 1}
        new = {**old, "metadata": marked}
        stored = old if rules.same(old, new) else self._put(kind, new)
        return stored if finalizers else None

    def _put(self, kind: Kind, new: Json) -> Json:
        """Stores an object; one that waits for its last finalizer only is gone."""
        self.version += 1
        metadata = {**new["metadata"], "resourceVersion": str(self.version)}
        held, key = self._held.setdefault(kind, {}), (metadata.get("namespace", ""), metadata["name"])
        held[key] = {**new, "metadata": metadata}
        if "deletionTimestamp" in metadata and not metadata.get("finalizers"):
            return held.pop(key)
        return held[key]
