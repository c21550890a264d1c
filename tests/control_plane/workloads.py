"""Workloads without nodes: when the controllers are done with them, and how a kubelet would run them."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from tests.control_plane.waiting import SETTLE_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.server import Server

_Object = dict[str, Any]

_KINDS = {
    "Takara": "/apis/maho.takara.org/v1alpha1/namespaces/{}/takaras",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "Pod": "/api/v1/namespaces/{}/pods",
}
# Deletions that these hold are the garbage collector's work; one that others hold can last for ever.
_COLLECTORS_FINALIZERS = {"foregroundDeletion", "orphan"}
_NOT_FOUND = 404


def settle(server: Server, namespace: str, *, within: float = SETTLE_SECONDS) -> None:
    """Returns when the controllers have done all that they will do in the namespace.

    Every Deployment has its generation observed and its replicas there, counted and in its status, and
    nothing waits for its deletion. A rollout that needs ready pods to go on never gets there: see
    make_ready. Raises TimeoutError after `within` seconds, saying what was open.
    """
    wait_until(lambda: _open(server, namespace), within=within, every=0.02)


def make_ready(server: Server, namespace: str, deployment: str, *, within: float = SETTLE_SECONDS) -> None:
    """Plays the kubelet for one Deployment: runs its pods until its rollout is complete and Available.

    Raises TimeoutError after `within` seconds with the Deployment's status.
    """

    def missing() -> str:
        found = _get(server, f"{_KINDS['Deployment'].format(namespace)}/{deployment}")
        for pod in _pods_of(found, _list(server, "Pod", namespace), _list(server, "ReplicaSet", namespace)):
            if not _is_ready(pod):
                _run(server, pod)
        return "" if _is_complete(found) else f"{deployment} has {found.get('status')}"

    wait_until(missing, within=within, every=0.02)


def _open(server: Server, namespace: str) -> str:
    """What the controllers still have to do, as text."""
    objects = {kind: _list(server, kind, namespace) for kind in _KINDS}
    return "; ".join(
        f"{one['kind']} {namespace}/{one['metadata']['name']} {what}"
        for kind in objects
        for one in objects[kind]
        for what in _open_for(one, objects)
    )


def _open_for(one: _Object, objects: dict[str, list[_Object]]) -> Iterator[str]:
    if "deletionTimestamp" in one["metadata"]:
        held_by = set(one["metadata"].get("finalizers", []))
        if not held_by or held_by & _COLLECTORS_FINALIZERS:
            yield "is being deleted"
    elif gone := _owners_gone(one, objects):
        yield f"waits for its deletion, as {gone} is gone"
    elif one["kind"] in {"Deployment", "ReplicaSet"}:
        yield from _open_replicas(one)
        pods = len(_pods_of(one, objects["Pod"], objects["ReplicaSet"]))
        if pods != one["spec"]["replicas"]:
            yield f"has {pods} pods of {one['spec']['replicas']}"


def _open_replicas(one: _Object) -> Iterator[str]:
    wanted, status = one["spec"]["replicas"], one.get("status", {})
    if status.get("observedGeneration") != one["metadata"]["generation"]:
        yield f"has generation {one['metadata']['generation']} not observed"
    if status.get("replicas", 0) != wanted:
        yield f"has status.replicas {status.get('replicas', 0)} of {wanted}, {_conditions(one)}"


def _owners_gone(one: _Object, objects: dict[str, list[_Object]]) -> str:
    """The owner without which the garbage collector deletes the object, if all of them are gone."""
    owners = one["metadata"].get("ownerReferences", [])
    alive = {other["metadata"]["uid"] for kind in objects for other in objects[kind]}
    if not owners or any(owner["kind"] not in objects or owner["uid"] in alive for owner in owners):
        return ""
    return ", ".join(f"{owner['kind']} {owner['name']}" for owner in owners)


def _pods_of(owner: _Object, pods: list[_Object], replica_sets: list[_Object]) -> list[_Object]:
    """The pods of a ReplicaSet, or of a Deployment's ReplicaSets, that are not being deleted."""
    uid = owner["metadata"]["uid"]
    uids = {uid, *(one["metadata"]["uid"] for one in replica_sets if _controller(one) == uid)}
    return [pod for pod in pods if _controller(pod) in uids and "deletionTimestamp" not in pod["metadata"]]


def _controller(one: _Object) -> str:
    """The uid of the object's controller."""
    owners = one["metadata"].get("ownerReferences", [])
    return next((str(owner["uid"]) for owner in owners if owner.get("controller")), "")


def _is_complete(deployment: _Object) -> bool:
    status, wanted = deployment.get("status", {}), deployment["spec"]["replicas"]
    observed = status.get("observedGeneration") == deployment["metadata"]["generation"]
    counts = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")]
    return observed and counts == [wanted] * 3 and "Available=True" in _conditions(deployment)


def _is_ready(pod: _Object) -> bool:
    return "Ready=True" in _conditions(pod).split()


def _conditions(one: _Object) -> str:
    conditions = one.get("status", {}).get("conditions", [])
    return " ".join(f"{condition['type']}={condition['status']}" for condition in conditions)


def running_status(pod: _Object) -> _Object:
    """What a kubelet writes into the status of a pod that has just become ready."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    types = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    containers = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
        }
        for container in pod["spec"]["containers"]
    ]
    return {
        "phase": "Running",
        "startTime": now,
        "conditions": [{"type": name, "status": "True", "lastTransitionTime": now} for name in types],
        "containerStatuses": containers,
    }


def _run(server: Server, pod: _Object) -> None:
    path = f"{_KINDS['Pod'].format(pod['metadata']['namespace'])}/{pod['metadata']['name']}/status"
    kind = "application/strategic-merge-patch+json"
    answer = server.call("PATCH", path, {"status": running_status(pod)}, content_type=kind)
    if answer.status not in {200, _NOT_FOUND}:  # a pod may go while it is being run
        raise AssertionError(f"PATCH {path}: {answer.status} {answer.body}")


def _list(server: Server, kind: str, namespace: str) -> list[_Object]:
    """All objects of a kind, with their kind (lists leave it out); none where it is not served."""
    answer = server.call("GET", _KINDS[kind].format(namespace))
    if answer.status == _NOT_FOUND:
        return []
    return [{**one, "kind": kind} for one in _checked(answer.status, answer.body)["items"]]


def _get(server: Server, path: str) -> _Object:
    answer = server.call("GET", path)
    return _checked(answer.status, answer.body)


def _checked(status: int, body: Any) -> _Object:
    if status != 200:
        raise AssertionError(f"the server answered {status}: {body}")
    return dict(body)
