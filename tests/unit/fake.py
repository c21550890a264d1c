"""A cluster in memory that behaves by the contract of `cluster.Cluster`: versions, conflicts, field ownership.

`before` is called ahead of each request with its verb and key: a test raises there, or gets in between.
"""

from __future__ import annotations

import threading
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from takara_sync.cluster import Deadline
from takara_sync.errors import Changed, Vanished
from takara_sync.objects import Deployment, Key, Listing, ManagedFieldsEntry, Pod, Takara
from tests.unit.build import (
    OURS,
    Json,
    decoded,
    entries_json,
    entry,
    item_name,
    key_of,
    list_key,
    owned,
    scaled,
    tree_of,
)
from tests.unit.patching import PatchTestFailed, patched

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EVERYTHING = Key("", "")
WRITES = ("create", "apply", "take over", "tell")


class FakeCluster:
    """Holds Takaras, Deployments and pods as JSON; `requests` are verbs and keys, in order."""

    dry_run = False

    def __init__(self, *objects: Json, deadline: Deadline | None = None) -> None:
        self.deadline = deadline or Deadline()
        self.requests: list[tuple[str, Key]] = []
        self.before: Callable[[str, Key], None] = lambda _verb, _key: None
        self.stored: dict[str, dict[Key, Json]] = {"Takara": {}, "Deployment": {}, "Pod": {}}
        self._versions = 100
        self._lock = threading.RLock()
        for value in objects:
            self.stored[value["kind"]][key_of(value)] = deepcopy(value)

    @property
    def writes(self) -> list[tuple[str, Key]]:
        return [request for request in self.requests if request[0] in WRITES]

    def verbs(self, name: str) -> list[str]:
        """What was asked about one Takara and its Deployment, in order."""
        return [verb for verb, key in self.requests if key.name == name]

    def status(self, name: str = "one") -> Json:
        return self.stored["Takara"][Key("ns", name)]["status"] or {}

    def reason(self, name: str = "one", kind: str = "Ready") -> str:
        return next((c["reason"] for c in self.status(name).get("conditions", []) if c["type"] == kind), "")

    def replicas(self, name: str = "one") -> Any:
        return self.stored["Deployment"][Key("ns", name)]["spec"]["replicas"]

    # -------------------------------------------------------------- what others do

    def edit(self, name: str, size: Any) -> None:
        """Somebody gives the Takara another size."""
        live = self.stored["Takara"][Key("ns", name)]
        live["metadata"]["generation"] += 1
        self._put(live | {"spec": live["spec"] | {"size": size}})

    def touch(self, kind: str, name: str) -> None:
        """Somebody writes the object in a way that only its resourceVersion shows."""
        self._put(self.stored[kind][Key("ns", name)])

    def scale(self, name: str, replicas: int, manager: str = "hpa") -> None:
        self._put(scaled(self.stored["Deployment"][Key("ns", name)], replicas, manager))

    # -------------------------------------------------------------- reads

    def deployments(self) -> Listing[Deployment]:
        self._ask("list deployments")
        found = self.stored["Deployment"].values()
        labelled = [d for d in found if (d["metadata"].get("labels") or {}).get("app") == "takara"]
        return Listing(tuple(decoded(Deployment, d) for d in labelled))

    def takaras(self) -> Listing[Takara]:
        self._ask("list takaras")
        return Listing(tuple(decoded(Takara, t) for t in self.stored["Takara"].values()))

    def pods(self) -> Listing[Pod]:
        self._ask("list pods")
        return Listing(tuple(decoded(Pod, p) for p in self.stored["Pod"].values()))

    def deployment(self, key: Key) -> Deployment | None:
        self._ask("get deployment", key)
        found = self.stored["Deployment"].get(key)
        return None if found is None else decoded(Deployment, found)

    def takara(self, key: Key) -> Takara | None:
        self._ask("get takara", key)
        found = self.stored["Takara"].get(key)
        return None if found is None else decoded(Takara, found)

    # -------------------------------------------------------------- writes

    def create(self, body: Json) -> Deployment:
        key = key_of(body)
        self._ask("create", key)
        with self._lock:
            if key in self.stored["Deployment"]:
                raise Changed(f"Deployment {key} exists already")
            own = entry(*_own(body))
            made = deepcopy(body) | {"status": {}}
            made["metadata"] |= {"uid": f"deployment-{key.name}", "generation": 1, "managedFields": [own]}
            return decoded(Deployment, self._put(made))

    def apply(self, deployment: Deployment, body: Json) -> Deployment:
        self._ask("apply", deployment.key)
        with self._lock:
            live = self.stored["Deployment"].get(deployment.key)
            named = (body["metadata"]["uid"], body["metadata"]["resourceVersion"])
            if live is None or named != (live["metadata"]["uid"], live["metadata"]["resourceVersion"]):
                raise Changed(f"Deployment {deployment.key} has been changed")
            after = _applied(live, body)
            return decoded(Deployment, live if after == live else self._put(after))

    def take_over(self, deployment: Deployment, managed_fields: Sequence[ManagedFieldsEntry]) -> Deployment:
        self._ask("take over", deployment.key)
        with self._lock:
            live = self.stored["Deployment"].get(deployment.key)
            if live is None:
                raise Vanished(f"Deployment {deployment.key} is gone")
            read = (deployment.uid, deployment.metadata.resource_version)
            if read != (live["metadata"]["uid"], live["metadata"]["resourceVersion"]):
                raise Changed(f"Deployment {deployment.key} has been changed")
            after = deepcopy(live)
            after["metadata"]["managedFields"] = entries_json(managed_fields)
            return decoded(Deployment, self._put(after))

    def tell(self, takara: Takara, patch: Sequence[Json]) -> None:
        self._ask("tell", takara.key)
        with self._lock:
            live = self.stored["Takara"].get(takara.key)
            if live is None:
                raise Vanished(f"Takara {takara.key} is gone")
            try:
                self._put(patched(live, list(patch)))
            except PatchTestFailed as error:
                raise Changed(f"Takara {takara.key} has been changed") from error

    # -------------------------------------------------------------- within

    def _ask(self, verb: str, key: Key = EVERYTHING) -> None:
        self.deadline.check()
        self.requests.append((verb, key))
        self.before(verb, key)

    def _put(self, value: Json) -> Json:
        with self._lock:
            self._versions += 1
            value["metadata"]["resourceVersion"] = str(self._versions)
            self.stored[value["kind"]][key_of(value)] = value
            return value


# ------------------------------------------------------------------ server-side apply, as far as the pass reads it


def _own(body: Json) -> tuple[str, Json, str]:
    return (OURS[0], tree_of(owned(body)), OURS[1])


def _applied(live: Json, body: Json) -> Json:
    """A forced apply: others lose the fields that get another value. It takes nothing away."""
    after: Json = _merged(live, owned(body))
    others = [e for e in live["metadata"].get("managedFields") or [] if (e["manager"], e["operation"]) != OURS]
    if not live["metadata"].get("managedFields"):
        others = [entry("before-first-apply", tree_of(owned(live)))]
    taken = _differing(live, owned(body)) or {}
    own: Json = next(
        (e for e in live["metadata"].get("managedFields") or [] if (e["manager"], e["operation"]) == OURS), {}
    )
    kept = [e | {"fieldsV1": _minus(e["fieldsV1"], taken)} for e in others]
    after["metadata"]["managedFields"] = [own | entry(*_own(body)), *(e for e in kept if e["fieldsV1"])]
    after["metadata"]["generation"] += after["spec"] != live["spec"]
    return after


def _merged(live: Any, wanted: Any) -> Any:
    if isinstance(live, dict) and isinstance(wanted, dict):
        return deepcopy(live) | {name: _merged(live.get(name), value) for name, value in wanted.items()}
    key = list_key(wanted)
    if key and list_key(live) == key:
        mine = {item[key]: item for item in wanted}
        both = [_merged(item, mine.pop(item[key], item)) for item in live]
        return both + deepcopy(list(mine.values()))
    return deepcopy(wanted)


def _differing(live: Any, wanted: Any) -> Json | None:
    """The fieldsV1 tree of what has another value in `wanted`, None where nothing has."""
    if isinstance(live, dict) and isinstance(wanted, dict):
        found = {f"f:{name}": _differing(live.get(name), value) for name, value in wanted.items()}
    elif (key := list_key(wanted)) and list_key(live) == key:
        items = {item[key]: item for item in live}
        found = {item_name(key, item): _differing(items.get(item[key]), item) for item in wanted}
    else:
        return None if live == wanted else {}
    return {name: tree for name, tree in found.items() if tree is not None} or None


def _minus(tree: Json, gone: Json) -> Json:
    """The tree without the leaves of `gone`, and without what becomes empty."""
    left = {
        name: _minus(sub, gone[name]) if name in gone else sub for name, sub in tree.items() if gone.get(name) != {}
    }
    return {name: sub for name, sub in left.items() if sub.keys() - {"."} or not tree[name].keys() - {"."}}
