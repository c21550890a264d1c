"""A backup tool: it exports objects and creates them again, as Velero does.

Velero 1.16 drops what the server sets, the owners and the status; it restores pods first, then ReplicaSets, then the
other kinds by name, leaves what exists already alone, and puts the managedFields back. Other tools drop these too.
https://velero.io/docs/v1.16/restore-reference/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.world import Json, World

KINDS = (
    ("v1", "pods", "Pod"),
    ("apps/v1", "replicasets", "ReplicaSet"),
    ("apps/v1", "deployments", "Deployment"),
    ("maho.takara.org/v1alpha1", "takaras", "Takara"),
)
"""In the order of a restore."""
_KEPT = ("name", "labels", "annotations", "finalizers")


def export(world: World) -> dict[str, list[Json]]:
    """Every object of the namespace, by kind."""
    return {kind: world.items(version, plural) for version, plural, kind in KINDS}


def restore(world: World, backup: dict[str, list[Json]], *, managed_fields: bool) -> Iterator[str]:
    """Create all of it in another namespace; the kind after each kind."""
    for version, plural, kind in KINDS:
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        path = f"{root}/namespaces/{world.namespace}/{plural}"
        for one in backup[kind]:
            _restore(world, path, {"apiVersion": version, "kind": kind} | one, managed_fields=managed_fields)
        yield kind


def _restore(world: World, path: str, one: Json, *, managed_fields: bool) -> None:
    metadata: dict[str, Any] = {key: value for key, value in one["metadata"].items() if key in _KEPT}
    metadata["labels"] = metadata.get("labels", {}) | {"velero.io/backup-name": "b", "velero.io/restore-name": "r"}
    body = {key: value for key, value in one.items() if key not in ("metadata", "status")} | {"metadata": metadata}
    answer = world.server.call("POST", f"{path}?fieldManager=velero-server", body)
    assert answer.status in (201, 409), answer.body
    if managed_fields and answer.status == 201:
        patch = {"metadata": {"managedFields": one["metadata"]["managedFields"]}}
        kind = "application/merge-patch+json"
        world.call("PATCH", f"{path}/{metadata['name']}?fieldManager=velero-server", patch, content_type=kind)
