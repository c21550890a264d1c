"""What people and other programs do to a Takara and its Deployment."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.main_job.fleet import Step
from tests.support.takaras import takara
from tests.world import GO_OPERATOR, Json, World, as_the_go_operator, owner_reference

HOLD = {"metadata": {"finalizers": ["example.org/hold"]}}
PAUSED = "maho.takara.org/paused"


def created(size: int = 1, **spec: Any) -> Step:
    return lambda world, name: world.create(takara(name, size, **spec))


def edited(**spec: Any) -> Step:
    return lambda world, name: world.merge(name, {"spec": spec})


def paused(value: str | None, **spec: Any) -> Step:
    return lambda world, name: world.merge(name, {"metadata": {"annotations": {PAUSED: value}}, "spec": spec})


def kubectl(command: str) -> Step:
    """A command about `NAME`."""
    return lambda world, name: world.kubectl(*command.replace("NAME", name).split())


def held(command: str) -> Step:
    """A finalizer keeps the Deployment; then a command of kubectl."""
    return lambda world, name: (world.merge_deployment(name, HOLD), kubectl(command)(world, name))


def released(world: World, name: str) -> None:
    world.merge_deployment(name, {"metadata": {"finalizers": None}})


def restarted(world: World, name: str) -> None:
    """To the end of the rollout."""
    world.server.make_ready(world.namespace, name)
    kubectl("rollout restart deployment/NAME")(world, name)
    world.server.make_ready(world.namespace, name)


def replaced(world: World, name: str) -> None:
    """By one with another image and the same owner, whose generation begins anew."""
    other = world.deployment(name)
    other["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx"
    other["metadata"] = {key: other["metadata"][key] for key in ("name", "labels", "ownerReferences")}
    world.kubectl("replace", "--force", "-f", "-", stdin=json.dumps(other))


def stray_pod(world: World, name: str) -> None:
    labels = {"app": "takara", "takara_cr": name, "pod-template-hash": "x"}
    spec = {"containers": [{"name": "c", "image": "busybox"}]}
    body = {"metadata": {"name": "stray", "labels": labels}, "spec": spec}
    world.call("POST", f"/api/v1/namespaces/{world.namespace}/pods", body)


# ------------------------------------------------------------------ Deployments that are there before takara-sync is


def left_by_the_go_operator(*past: Step, manager: str = GO_OPERATOR, extra: tuple[Json, ...] = (), **main: Any) -> Step:
    """A Takara of size 2 with its Deployment; `main`: more of its container, `extra`: more containers."""

    def begins(world: World, name: str) -> None:
        (owner,) = world.create(takara(name, 2))
        body = as_the_go_operator(owner, 2, **main)
        body["spec"]["template"]["spec"]["containers"] += extra
        world.post_deployment(body, manager)
        for step in past:
            step(world, name)

    return begins


def without_managed_fields(world: World, name: str) -> None:
    world.merge_deployment(name, {"metadata": {"managedFields": [{}]}})
    assert "managedFields" not in world.deployment(name)["metadata"]


def of_a_stranger(change: Callable[[World, Json], object], *, labelled: bool) -> Step:
    """A Takara of size 2 and a Deployment of its name that is not its own; labelled: it is in the list of a pass."""

    def begins(world: World, name: str) -> None:
        (owner,) = world.create(takara(name, 2))
        body = as_the_go_operator(owner, 5)
        body["metadata"] |= {"labels": {"app": "takara", "takara_cr": name}} if labelled else {}
        change(world, body["metadata"])
        world.post_deployment(body)

    return begins


def of_nobody(_world: World, metadata: Json) -> None:
    del metadata["ownerReferences"]


def of_another(world: World, metadata: Json) -> None:
    (other,) = world.create(takara(f"owner-of-{metadata['name']}", 0))
    metadata["ownerReferences"] = [owner_reference(other)]


def of_a_predecessor(_world: World, metadata: Json) -> None:
    """Garbage collection removes such a Deployment; a finalizer keeps it for the test."""
    metadata |= HOLD["metadata"]
    metadata["ownerReferences"][0]["uid"] = "00000000-0000-0000-0000-000000000000"
