"""The objects, and the rules of every write: versions, generations, uids, ownership, deletion.

Nothing stored is ever changed in place: a write builds a new object and puts it there last, so that a refusal leaves
the store as it was and a list, once taken, stays true.
"""

from __future__ import annotations

import random
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from takara_sync.simulator import fieldsets, ownership
from takara_sync.simulator.admission import admit
from takara_sync.simulator.fieldsets import Entry
from takara_sync.simulator.kinds import DEPLOYMENT, NAMESPACE, POD, REPLICA_SET, Kind, takara
from takara_sync.simulator.rules import changes_generation, check_uid, check_version, fresh, isolated, same
from takara_sync.simulator.wire import Json, Refusal, cause, details, forbidden, not_found

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime


_SERVERS = (
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "namespace",
    "name",
    "selfLink",
    "resourceVersion",
)
_EMPTY: Json = {
    "metadata": {},
    "spec": {"strategy": {}, "template": {"metadata": {}, "spec": {"containers": []}}},
    "status": {},
}


class Objects:
    """All objects by kind, namespace and name; `now` is asked for each timestamp, `seed` makes uids repeatable."""

    def __init__(self, now: Callable[[], datetime], seed: int | None = None) -> None:
        self.version = 1
        self.random = random.Random(seed)  # noqa: S311 - uids and pod names, not secrets
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
            raise not_found(kind, name)
        return found

    def all(self, kind: Kind, namespace: str = "") -> list[Json]:
        """Every object of a kind in the order of etcd's keys; of one namespace where one is given."""
        held = self._held.get(kind, {})
        keys = sorted(held, key="/".join)
        return [held[key] for key in keys if not namespace or key[0] == namespace]

    def create(
        self,
        kind: Kind,
        value: Json,
        writer: Entry,
        *,
        entries: list[Entry] | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Stores a new object.  Raises Refusal: 404 or 403 for its namespace, 409 where there is one, 422."""
        metadata: Json = {key: item for key, item in value["metadata"].items() if key not in _SERVERS}
        metadata["name"] = value["metadata"].get("name") or self.generated(value["metadata"].get("generateName", ""))
        if kind.namespaced:
            metadata["namespace"] = value["metadata"]["namespace"]
            self._check_namespace(kind, metadata)
        if self.get(kind, metadata.get("namespace", ""), metadata["name"]):
            raise Refusal(
                409,
                "AlreadyExists",
                f'{kind.resource} "{metadata["name"]}" already exists',
                details(kind, metadata["name"]),
            )
        metadata |= {
            "uid": str(uuid.UUID(int=self.random.getrandbits(128), version=4)),
            "creationTimestamp": self.time(),
        }
        if kind in (DEPLOYMENT, REPLICA_SET, POD, takara()):
            metadata["generation"] = 1
        new = admit(kind, fresh(kind, {**value, "metadata": metadata}), None)
        blank: Json = {} if kind.custom else _EMPTY
        return self._put(kind, self._with_fields(kind, blank, new, writer, entries), dry_run=dry_run)

    def generated(self, prefix: str) -> str:
        """A name from `generateName`: at most 63 characters, five of them random.  Empty where there is no prefix."""
        return prefix[:58] + "".join(self.random.choices("bcdfghjklmnpqrstvwxz2456789", k=5)) if prefix else ""

    def _check_namespace(self, kind: Kind, metadata: Json) -> None:
        namespace = self.find(NAMESPACE, "", metadata["namespace"])
        if "deletionTimestamp" in namespace["metadata"]:
            name = metadata["namespace"]
            raise forbidden(
                kind,
                metadata["name"],
                f"unable to create new content in namespace {name} because it is being terminated",
                [cause("NamespaceTerminating", "metadata.namespace", f"namespace {name} is being terminated")],
            )

    def update(
        self,
        kind: Kind,
        old: Json,
        value: Json,
        writer: Entry,
        *,
        entries: list[Entry] | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Stores a changed object; where nothing changes, nothing moves.

        `entries` are the owners after an apply; else they follow from what changed.  Raises Refusal 409 for a stale
        resourceVersion, 422.
        """
        check_version(kind, old, value)
        if not (kind.custom and writer.subresource):
            check_uid(kind, old, value)
        new = isolated(kind, old, value, writer.subresource)
        kept = {key: old["metadata"][key] for key in _SERVERS if key in old["metadata"]}
        stated = {key: item for key, item in new["metadata"].items() if key not in _SERVERS and item not in ({}, [])}
        new = admit(kind, {**new, "metadata": stated | kept}, old)
        new = self._with_fields(kind, old, new, writer, entries)
        if same(old, new):
            return old
        if writer.subresource != "status" and changes_generation(kind, old, new) and "generation" in kept:
            new["metadata"]["generation"] = old["metadata"]["generation"] + 1
        return self._put(kind, new, dry_run=dry_run)

    def _with_fields(self, kind: Kind, old: Json, new: Json, writer: Entry, entries: list[Entry] | None) -> Json:
        metadata = {key: item for key, item in new["metadata"].items() if key != "managedFields"}
        if kind.tracked:
            if entries is None:
                live = self.entries(old, new)
                # A server adds no entry to an object whose entries were cleared, until the first apply.
                cleared = not live and "uid" in old["metadata"] if old else False
                entries = [] if cleared else ownership.updated(live, old, new, writer)
            if encoded := fieldsets.encode(entries):
                metadata["managedFields"] = encoded
        return {**new, "metadata": metadata}

    def entries(self, old: Json, new: Json) -> list[Entry]:
        """Who owns what before a write: what the writer says in managedFields, else what is stored."""
        said = new["metadata"].get("managedFields")
        if said == [{}]:  # how a client clears them
            return []
        for fields in (said, old.get("metadata", {}).get("managedFields")):
            try:
                if found := fieldsets.decode(fields or []):
                    return found
            except (KeyError, TypeError, AttributeError):
                continue
        return []

    def before_first_apply(self, kind: Kind, live: Json, writer: Entry) -> list[Entry]:
        """The entry that keeps what an object without managedFields held before its first apply."""
        blank: Json = {} if kind.custom else _EMPTY
        before = replace(writer, manager=ownership.BEFORE_FIRST_APPLY, operation="Update")
        return ownership.updated([], blank, live, before)

    def delete(self, kind: Kind, old: Json, policy: str = "Background", *, dry_run: bool = False) -> Json | None:
        """Deletes an object; answers it where finalizers keep it for now, else None."""
        metadata = old["metadata"]
        added = {"Foreground": ["foregroundDeletion"], "Orphan": ["orphan"]}.get(policy, [])
        finalizers = list(dict.fromkeys([*metadata.get("finalizers", []), *added]))
        if not finalizers and kind != NAMESPACE:
            if not dry_run:
                self.remove(kind, old)
            return None
        marked = {**metadata, **({"finalizers": finalizers} if finalizers else {})}
        if "deletionTimestamp" not in metadata:
            marked |= {"deletionTimestamp": self.time(), "deletionGracePeriodSeconds": 0}
            marked |= {"generation": metadata["generation"] + 1} if "generation" in metadata else {}
        new = {**old, "metadata": marked, **({"status": {"phase": "Terminating"}} if kind == NAMESPACE else {})}
        return old if same(old, new) else self._put(kind, new, dry_run=dry_run)

    def remove(self, kind: Kind, old: Json) -> None:
        """Takes an object away without asking, as the last finalizer's end does."""
        self.version += 1
        del self._held[kind][(old["metadata"].get("namespace", ""), old["metadata"]["name"])]

    def _put(self, kind: Kind, new: Json, *, dry_run: bool) -> Json:
        metadata = {**new["metadata"], "resourceVersion": str(self.version + 1)}
        stored = {"apiVersion": kind.api_version, "kind": kind.kind, **new, "metadata": metadata}
        if dry_run:
            metadata["resourceVersion"] = new["metadata"].get("resourceVersion", "")
            return stored
        self.version += 1
        key = metadata.get("namespace", ""), metadata["name"]
        if "deletionTimestamp" in metadata and not metadata.get("finalizers") and kind != NAMESPACE:
            self._held[kind].pop(key)
        else:
            self._held.setdefault(kind, {})[key] = stored
        return stored
