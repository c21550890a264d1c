"""Short ways to the objects that the tests are about: as the API server sends them, and decoded."""

from __future__ import annotations

import json
from collections.abc import Iterable
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec
from hypothesis import HealthCheck, settings

from takara_sync.managed_fields import owned_by_us
from takara_sync.objects import Deployment, Key, ManagedFieldsEntry, Pod, PodItem, Takara
from takara_sync.record import config_hash
from tests.support.takaras import takara as manifest_of

Json = dict[str, Any]
T = TypeVar("T")

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LONG = "2026-01-01T00:00:00Z"
REPLICAS: Json = {"f:spec": {"f:replicas": {}}}
OURS = ("takara-sync", "Apply")
IMAGE = ("f:spec", "f:template", "f:spec", "f:containers", 'k:{"name":"takara"}', "f:image")
PAUSED = {"maho.takara.org/paused": "true"}
CONTAINER: Json = {"name": "takara", "image": "busybox", "command": ["sleep", "3600"]}
TEMPLATE: Json = {"spec": {"containers": [{"name": "web", "image": "nginx"}]}}

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""No test may fail because the machine is busy."""


def decoded(kind: type[T], value: Json) -> T:
    """The struct that the product would read from this object."""
    return msgspec.json.decode(msgspec.json.encode(value), type=kind)


def key_of(value: Json) -> Key:
    return Key(value["metadata"]["namespace"], value["metadata"]["name"])


# ------------------------------------------------------------------ Takaras


def takara_json(name: str = "one", size: Any = 3, *, spec: Any = None, status: Any = None, **metadata: Any) -> Json:
    """A Takara of a size; `spec` instead of it where given."""
    made = manifest_of(name, size, "ns")
    made["metadata"] |= {"uid": f"uid-of-{name}", "resourceVersion": "1", "generation": 1} | metadata
    return made | {"spec": made["spec"] if spec is None else spec, "status": status}


def takara(*args: Any, **more: Any) -> Takara:
    return decoded(Takara, takara_json(*args, **more))


def condition(kind: str, status: str, reason: str, since: str = LONG) -> Json:
    return {"type": kind, "status": status, "reason": reason, "message": "words", "lastTransitionTime": since}


# ------------------------------------------------------------------ Deployments


def owner(name: str = "one", **more: Any) -> Json:
    """The controller reference that makes Takara `name` the owner."""
    return {
        "apiVersion": "maho.takara.org/v1alpha1",
        "kind": "Takara",
        "name": name,
        "uid": f"uid-of-{name}",
        "controller": True,
        "blockOwnerDeletion": True,
    } | more


def manifest(name: str = "one", replicas: int = 3) -> Json:
    """What is applied for the Takara `name`, whose name is short and whose template is the default."""
    labels = {"app": "takara", "takara_cr": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "ns", "labels": labels, "ownerReferences": [owner(name)]},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER]}},
        },
    }


def with_containers(*containers: Json) -> Json:
    return {"spec": {"template": {"spec": {"containers": list(containers)}}}}


def tree_of(value: Any) -> Json:
    """The fieldsV1 tree of a value."""
    if isinstance(value, dict):
        return {f"f:{name}": tree_of(item) for name, item in value.items()}
    if key := list_key(value):
        return {item_name(key, item): {".": {}} | tree_of(item) for item in value}
    return {}


def item_name(key: str, item: Json) -> str:
    """How fieldsV1 names an item of a keyed list."""
    return "k:" + json.dumps({key: item[key]}, separators=(",", ":"))


def list_key(value: Any) -> str | None:
    """The key that tells the items of a list apart."""
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        return None
    return next((key for key in ("uid", "name") if all(key in item for item in value)), None)


def owned(of: Json) -> Json:
    """The part of a manifest, or of a live Deployment, that a manager can hold."""
    kept = {"labels", "annotations", "ownerReferences"}
    metadata = {name: value for name, value in of["metadata"].items() if name in kept}
    return {"metadata": metadata, "spec": of["spec"]}


def entry(manager: str, tree: Json, operation: str = "Update", **more: Any) -> Json:
    """One entry of managedFields."""
    said = {"manager": manager, "operation": operation, "apiVersion": "apps/v1"}
    return said | {"fieldsType": "FieldsV1", "fieldsV1": tree} | more


def own_entry(name: str = "one") -> Json:
    """Our entry after the default manifest was applied."""
    return entry("takara-sync", tree_of(owned(manifest(name))), "Apply", time=LONG)


def entries(*some: Json) -> list[ManagedFieldsEntry]:
    return [msgspec.json.decode(msgspec.json.encode(one), type=ManagedFieldsEntry) for one in some]


def entries_json(some: Iterable[ManagedFieldsEntry]) -> list[Json]:
    """Entries as the API spells them."""
    found: list[Json] = [json.loads(msgspec.json.encode(one)) for one in some]
    return [{"fieldsType": "FieldsV1"} | one for one in found]


def deployment_json(name: str = "one", replicas: int = 3, *, status: Json | None = None, **metadata: Any) -> Json:
    """A live Deployment as our apply and the server's defaults leave it; with more metadata where given."""
    made = deepcopy(manifest(name, replicas))
    made["metadata"] |= {
        "uid": f"deployment-{name}",
        "resourceVersion": "10",
        "generation": 1,
        "managedFields": [own_entry(name)],
    }
    made["metadata"] |= metadata
    made["spec"]["progressDeadlineSeconds"] = 600
    made["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = "Always"
    return made | {"status": status or {}}


def deployment(*args: Any, **more: Any) -> Deployment:
    return decoded(Deployment, deployment_json(*args, **more))


def complete(size: int, generation: int = 1) -> Json:
    """The status of a Deployment whose replicas are all there."""
    counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    return {"observedGeneration": generation} | dict.fromkeys(counts, size)


def lost(live: Json, *path: str) -> Json:
    """The Deployment after our entry lost the field at this path of fieldsV1 names."""
    changed = deepcopy(live)
    own = next(e for e in changed["metadata"]["managedFields"] if (e["manager"], e["operation"]) == OURS)
    branch = own["fieldsV1"]
    for step in path[:-1]:
        branch = branch[step]
    branch.pop(path[-1], None)
    return changed


def scaled(live: Json, replicas: int, manager: str = "hpa", **more: Any) -> Json:
    """The Deployment after another manager set its replicas through the scale subresource."""
    changed = lost(live, "f:spec", "f:replicas")
    changed["spec"]["replicas"] = replicas
    others = [e for e in changed["metadata"]["managedFields"] if e["fieldsV1"] != REPLICAS]
    changed["metadata"]["managedFields"] = [*others, entry(manager, REPLICAS, subresource="scale") | more]
    return changed


def edited(live: Json, image: str) -> Json:
    """The Deployment after somebody set the image."""
    changed = lost(live, *IMAGE)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = image
    return changed


def legacy(live: Json, manager: str = "takara-operator") -> Json:
    """The Deployment as if the Go operator had made it: one Update entry with everything in it, no labels."""
    changed = deepcopy(live)
    changed["metadata"].pop("labels", None)
    changed["metadata"]["managedFields"] = [entry(manager, tree_of(owned(changed)), time=LONG)]
    return changed


# ------------------------------------------------------------------ both, and pods


def recorded(name: str = "one", size: int = 3, **more: Any) -> Json:
    """`status.deployment` after the default manifest was applied."""
    hashed = config_hash(manifest(name, size), owned_by_us(entries(own_entry(name))))
    return {"uid": f"deployment-{name}", "configHash": hashed, "format": 1} | more


def settled(name: str = "one", size: int = 3, record: Json | None = None, **metadata: Any) -> Json:
    """A Takara whose status says that its Deployment was applied; with more in the record where given."""
    status = {"observedGeneration": 1, "deployment": recorded(name, size) | (record or {})}
    return takara_json(name, size, status=status, **metadata)


def pod_json(of: str, name: str, template_hash: str = "5d9c7", **metadata: Any) -> Json:
    """A pod that Deployment `of` made, whose name is short."""
    labels = {"app": "takara", "takara_cr": of, "pod-template-hash": template_hash}
    set_ = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{of}-{template_hash}", "uid": "set"}
    made = {"name": name, "namespace": "ns", "labels": labels, "ownerReferences": [set_ | {"controller": True}]}
    return {"kind": "Pod", "metadata": made | metadata}


def pod(*args: Any, **more: Any) -> Pod:
    return decoded(PodItem, pod_json(*args, **more)).pod()
