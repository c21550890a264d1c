"""Those who write beside us, as far as the server sees them: an autoscaler, the Go operator, a GitOps tool."""

from __future__ import annotations

import random
from typing import Any, Literal

from tests.server import Answer
from tests.world import GO_OPERATOR, Json, World, as_the_go_operator

MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
HPA = "kube-controller-manager"  # the manager's name that a HorizontalPodAutoscaler's writes bear
GITOPS = "argocd-controller"
Way = Literal["scale", "update"]


def deployment_path(world: World, name: str = "one", sub: str = "", manager: str = "somebody") -> str:
    path = f"/apis/apps/v1/namespaces/{world.namespace}/deployments/{name}"
    return f"{path}{'/' if sub else ''}{sub}?fieldManager={manager}"


def take(world: World, replicas: int, manager: str = HPA, way: Way = "scale", name: str = "one") -> None:
    """Sets the replicas of the Deployment, through the scale subresource or by a plain update."""
    path = deployment_path(world, name, "scale" if way == "scale" else "", manager)
    world.call("PATCH", path, {"spec": {"replicas": replicas}}, content_type=MERGE)


def set_image(world: World, image: str, manager: str = "kubectl-set", name: str = "one") -> None:
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "takara", "image": image}]}}}}
    path = deployment_path(world, name, manager=manager)
    world.call("PATCH", path, patch, content_type="application/strategic-merge-patch+json")


def image_of(world: World, name: str = "one") -> str:
    (container,) = world.deployment(name)["spec"]["template"]["spec"]["containers"]
    return str(container["image"])


def git_sync(world: World, kept: Json, *, force: bool = False) -> Answer:
    """A GitOps tool applies the manifest that it keeps, under its own name."""
    path = deployment_path(world, kept["metadata"]["name"], manager=GITOPS) + ("&force=true" if force else "")
    return world.server.call("PATCH", path, kept, content_type=APPLY)


def manifest(name: str = "one", spec: Json | None = None, **metadata: Any) -> Json:
    """What a GitOps tool keeps of a Deployment."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name} | metadata,
        "spec": {} if spec is None else spec,
    }


def with_container(image: str, **more: Any) -> Json:
    """A spec that says no more than one container."""
    return {"template": {"spec": {"containers": [{"name": "takara", "image": image} | more]}}}


class GoOperator:
    """The reconcile loop of Operator SDK 0.10's template, over one Takara.

    `lists`: in which order its cache hands it the pods: by name as the server does, or as Go walks a map.
    """

    def __init__(self, world: World, name: str, lists: Literal["by name", "anyhow"] = "by name") -> None:
        self._world = world
        self._name = name
        self._random = random.Random(7) if lists == "anyhow" else None  # noqa: S311 - keeps no secret
        self.writes = 0

    def reconcile(self) -> None:
        """Until it finds nothing to do, or a conflict puts it off to the next time."""
        owner = self._world.takara(self._name)
        if not self._world.has_deployment(self._name):
            self._write("POST", self._deployments(), as_the_go_operator(owner, owner["spec"]["size"]))
            return
        live = self._world.deployment(self._name)
        if live["spec"]["replicas"] != owner["spec"]["size"]:
            live["spec"]["replicas"] = owner["spec"]["size"]
            self._write("PUT", self._deployments(f"/{self._name}"), live)
            return
        nodes = self._world.pods(self._name)
        if self._random:
            self._random.shuffle(nodes)
        if (owner.get("status") or {}).get("nodes", []) != nodes:
            # Its Go types know nothing of a status but the nodes, so a PUT drops the rest.
            path = f"{self._world.takara_path(self._name)}/status?fieldManager={GO_OPERATOR}"
            self._write("PUT", path, owner | {"status": {"nodes": nodes}})

    def _deployments(self, rest: str = "") -> str:
        path = f"/apis/apps/v1/namespaces/{self._world.namespace}/deployments"
        return f"{path}{rest}?fieldManager={GO_OPERATOR}"

    def _write(self, method: str, path: str, body: Json) -> None:
        answer = self._world.server.call(method, path, body)
        assert answer.status in (200, 201, 409), answer.body
        self.writes += answer.status != 409
