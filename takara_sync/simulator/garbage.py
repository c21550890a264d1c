"""Garbage collection by owner uid, foreground and orphaning deletion, and the end of namespaces.

After kubernetes `pkg/controller/garbagecollector` and `pkg/controller/namespace`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from takara_sync.simulator.fieldsets import Entry
from takara_sync.simulator.kinds import NAMESPACE, Kind, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from takara_sync.simulator.objects import Objects
    from takara_sync.simulator.wire import Json

_WRITER = Entry("kube-controller-manager", "Update", "v1")


def collect(objects: Objects) -> None:
    """One round: dependents of what is gone go, and what waited for them goes after them."""
    dependents: dict[str, list[tuple[Kind, Json]]] = {}
    for kind, item in list(_everything(objects)):
        for owner in item["metadata"].get("ownerReferences", ()):
            dependents.setdefault(owner["uid"], []).append((kind, item))
    for kind, item in list(_everything(objects)):
        _release(objects, kind, item, dependents.get(item["metadata"]["uid"], []))
        if item["metadata"].get("ownerReferences") and (stands := _current(objects, kind, item)):
            _drop_ownerless(objects, kind, stands)
    for namespace in objects.all(NAMESPACE):
        if "deletionTimestamp" in namespace["metadata"]:
            _empty(objects, namespace)


def owner_is_gone(objects: Objects, namespace: str, owner: Json) -> bool:
    """Whether no object of that kind and name has the owner's uid; a kind that is not served is never gone."""
    kind = next((one for one in served() if (one.api_version, one.kind) == (owner["apiVersion"], owner["kind"])), None)
    if kind is None:
        return False
    found = objects.get(kind, namespace, owner["name"])
    return found is None or found["metadata"]["uid"] != owner["uid"]


def _everything(objects: Objects) -> Iterator[tuple[Kind, Json]]:
    return ((kind, item) for kind in served() if kind.namespaced for item in objects.all(kind))


def _current(objects: Objects, kind: Kind, item: Json) -> Json | None:
    return objects.get(kind, item["metadata"]["namespace"], item["metadata"]["name"])


def _drop_ownerless(objects: Objects, kind: Kind, item: Json) -> None:
    metadata = item["metadata"]
    owners = metadata.get("ownerReferences", [])
    alive = [owner for owner in owners if not owner_is_gone(objects, metadata["namespace"], owner)]
    if not alive and "deletionTimestamp" not in metadata:
        objects.delete(kind, item)
    elif alive and alive != owners:
        objects.update(kind, item, {**item, "metadata": {**metadata, "ownerReferences": alive}}, _WRITER)


def _release(objects: Objects, kind: Kind, item: Json, dependents: list[tuple[Kind, Json]]) -> None:
    """Carries a foreground or orphaning deletion on; the finalizer goes with the last dependent."""
    metadata = item["metadata"]
    waits = [one for one in metadata.get("finalizers", ()) if one in ("foregroundDeletion", "orphan")]
    if "deletionTimestamp" not in metadata or not waits:
        return
    waiting = False
    for of, dependent in dependents:
        if (stands := _current(objects, of, dependent)) is None:
            continue
        kept = [one for one in stands["metadata"]["ownerReferences"] if one["uid"] != metadata["uid"]]
        if "orphan" in waits or kept:
            objects.update(of, stands, {**stands, "metadata": {**stands["metadata"], "ownerReferences": kept}}, _WRITER)
            continue
        waiting |= any(one.get("blockOwnerDeletion") for one in stands["metadata"]["ownerReferences"])
        if "deletionTimestamp" not in stands["metadata"]:
            objects.delete(of, stands, "Foreground")
    if not waiting:
        rest = [one for one in metadata["finalizers"] if one not in waits]
        objects.update(kind, item, {**item, "metadata": {**metadata, "finalizers": rest}}, _WRITER)


def _empty(objects: Objects, namespace: Json) -> None:
    held = [
        (kind, item)
        for kind in served()
        if kind.namespaced
        for item in objects.all(kind, namespace["metadata"]["name"])
    ]
    for kind, item in held:
        if "deletionTimestamp" not in item["metadata"]:
            objects.delete(kind, item)
    if not held:
        objects.remove(NAMESPACE, namespace)
