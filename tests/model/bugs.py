"""The product with one rule broken, in each of the ways that the machine is to notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from msgspec import structs

from takara_sync.contest import Contest, rfc3339
from takara_sync.errors import PassStopped
from takara_sync.kube.answers import APPLY
from takara_sync.kube.cluster import KubeCluster
from takara_sync.objects import Deployment, Key, Listing, Takara

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.model.client import Json

Patch = Any


def instead(module: Any, name: str, value: Any) -> Patch:
    """A bug that puts another function in the place of one."""
    return patch.object(module, name, value)


def around(module: Any, name: str, change: Callable[..., Any]) -> Patch:
    """A bug that changes what a function returns: `change` gets that, and its arguments."""
    right = getattr(module, name)
    return patch.object(module, name, lambda *args, **more: change(right(*args, **more), *args))


def adopting(self: KubeCluster, body: Json) -> Deployment:
    """A create that is an apply like any other."""
    metadata = body["metadata"]
    query = (("fieldManager", "takara-sync"), ("force", "true"))
    return self._patch_deployment(Key(metadata["namespace"], metadata["name"]), body, APPLY, query)


def unstamped(self: KubeCluster, deployment: Deployment, body: Json, right: Any = KubeCluster.apply) -> Any:
    """An apply without uid and resourceVersion."""
    kept = {key: item for key, item in body["metadata"].items() if key not in ("uid", "resourceVersion")}
    return right(self, deployment, body | {"metadata": kept})


def with_metadata_of_others(body: Json, _body: Json, _takara: Takara, deployment: Deployment | None) -> Json:
    """The live annotations are asked for, whosever they are."""
    live = (deployment.metadata.annotations or {}) if deployment else {}
    return body | {"metadata": body["metadata"] | {"annotations": live}}


def all_containers(body: Json, _body: Json, _takara: Takara, deployment: Deployment | None) -> Json:
    """The live containers that the Takara did not ask for are not ours to name."""
    if deployment is None:
        return body
    pod = body["spec"]["template"]["spec"]
    named = {one["name"] for one in pod["containers"]}
    live = deployment.as_body()["spec"]["template"]["spec"]["containers"]
    more = [{"name": one["name"], "image": "busybox"} for one in live if one["name"] not in named]
    template = body["spec"]["template"] | {"spec": pod | {"containers": [*pod["containers"], *more]}}
    return body | {"spec": body["spec"] | {"template": template}}


def everything_moves(right: Any) -> Callable[..., Any]:
    """A take-over that drops the entries of others."""
    return lambda entries, legacy: found[:1] if (found := right(entries, legacy)) else None


def just_now(condition: Json, *args: Any) -> Json:
    """A condition that is always of this moment."""
    return condition | {"lastTransitionTime": rfc3339(args[-1])}


def undeleted(found: Listing[Any], *_: object) -> Listing[Any]:
    """Takaras of which nobody sees that they are being deleted."""
    return Listing(tuple(map(_never_deleting, found.items)), found.unread)


def _never_deleting(one: Any) -> Any:
    if not isinstance(one, Takara):
        return one
    return structs.replace(one, metadata=structs.replace(one.metadata, deletion_timestamp=None))


def whole_patch(_: object, takara: Takara, wanted: Json) -> list[Json]:
    """The whole status, whether it differs or not."""
    tests = [{"op": "test", "path": "/metadata/uid", "value": takara.uid}]
    return [*tests, *({"op": "add", "path": f"/status/{key}", "value": item} for key, item in wanted.items())]


def at_once(takara: Takara, live: Deployment, _: object) -> Contest:
    """Everybody who scales keeps what he took."""
    return Contest("kubectl", left=live.replicas != takara.size)


def or_nothing(self: KubeCluster, right: Any = KubeCluster.pods) -> Listing[Any]:
    """The pods; none where they cannot be listed."""
    try:
        return Listing(right(self).items)
    except PassStopped:
        return Listing(())
