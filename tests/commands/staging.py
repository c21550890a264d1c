"""How a scene is set: what there was before the command that a test looks at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from takara_sync import KubeCluster, Policy, sync_once
from tests.tool import Tool
from tests.world import GO_OPERATOR, Json, World, as_the_go_operator, takara

HOLD = {"metadata": {"finalizers": ["example.org/hold"]}}
PAUSE = {"metadata": {"annotations": {"maho.takara.org/paused": "true"}}}
TEMPLATES = ("--allow-templates",)

Prepare = Callable[["World", "Tool"], None]


@dataclass(frozen=True)
class Scenario:
    name: str
    prepare: Prepare
    flags: tuple[str, ...] = ()


def converged(world: World, tool: Tool, *takaras: Json) -> None:
    """These Takaras, with nothing left to do for their Deployments."""
    world.create(*takaras)
    sync(world, tool)
    world.settle()


def scene(
    *takaras_before: Json,
    kubectl: Sequence[str] = (),
    takaras: Mapping[str, Json] = MappingProxyType({}),
    deployments: Mapping[str, Json] = MappingProxyType({}),
    statuses: Mapping[str, Json] = MappingProxyType({}),
    new: Sequence[Json] = (),
) -> Prepare:
    """These Takaras converged, then commands of kubectl, merge patches by name, and new Takaras."""

    def prepare(world: World, tool: Tool) -> None:
        if takaras_before:
            converged(world, tool, *takaras_before)
        for command in kubectl:
            world.kubectl(*command.split())
        for name, patch in takaras.items():
            world.merge(name, patch)
        for name, patch in deployments.items():
            world.merge_deployment(name, patch)
        for name, status in statuses.items():
            path = f"{world.takara_path(name)}/status"
            world.call("PATCH", path, {"status": status}, content_type="application/merge-patch+json")
        world.create(*new)

    return prepare


def sync(world: World, tool: Tool) -> None:
    """A pass, quicker than as a process."""
    cluster = KubeCluster.connect(str(tool.user.kubeconfig), namespaces=[world.namespace])
    assert sync_once(cluster, Policy(allow_templates=True)).exit == 0


def left_by_the_go_operator(world: World, name: str, size: int = 2, **container: Any) -> None:
    (owner,) = world.create(takara(name, size))
    world.post_deployment(as_the_go_operator(owner, size, **container), GO_OPERATOR)
    world.settle()


def template(*containers: Json, **spec: Any) -> Json:
    return {"spec": {"containers": list(containers)} | spec}


def fleet(world: World, size: int) -> list[str]:
    """So many Takaras of size 1; their names, sorted."""
    names = [f"t{number:02}" for number in range(size)]
    world.create(*(takara(name, 1) for name in names))
    return names
