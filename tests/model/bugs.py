"""The product with one rule broken, in each of the ways that the machine is to notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from msgspec import structs

from takara_sync.errors import PassStopped
from takara_sync.kube.cluster import KubeCluster
from takara_sync.objects import Deployment, Listing, Takara

if TYPE_CHECKING:
    from collections.abc import Callable

    from takara_sync.deadline import Deadline
    from tests.support.takaras import Json

Patch = Any


def instead(module: Any, name: str, value: Any) -> Patch:
    """A bug that puts another function in the place of one."""
    return patch.object(module, name, value)


def around(module: Any, name: str, change: Callable[..., Any]) -> Patch:
    """A bug that changes what a function returns: `change` gets that, and its arguments."""
    right = getattr(module, name)
    return patch.object(module, name, lambda *args, **more: change(right(*args, **more), *args))


def with_metadata_of_others(manifest: Json, _manifest: Json, _takara: Takara, deployment: Deployment | None) -> Json:
    """The live annotations are asked for, whosever they are."""
    live = deployment.as_manifest()["metadata"]["annotations"] if deployment else {}
    return manifest | {"metadata": manifest["metadata"] | {"annotations": live or {}}}


def everything_moves(right: Any) -> Callable[..., Any]:
    """A take-over that drops the entries of others."""
    return lambda entries, legacy: found[:1] if (found := right(entries, legacy)) else None


def undeleted(found: Listing[Any], *_: object) -> Listing[Any]:
    """Takaras of which nobody sees that they are being deleted."""
    return Listing(tuple(map(_never_deleting, found.items)), found.unread)


def _never_deleting(one: Any) -> Any:
    if not isinstance(one, Takara):
        return one
    return structs.replace(one, metadata=structs.replace(one.metadata, deletion_timestamp=None))


def or_nothing(self: KubeCluster, deadline: Deadline, right: Any = KubeCluster.pods) -> Listing[Any]:
    """The pods; none where they cannot be listed."""
    try:
        return Listing(right(self, deadline).items)
    except PassStopped:
        return Listing(())
