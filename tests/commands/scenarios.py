"""What a pass can meet: each a small function that makes it so, with the flags that the passes need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.commands.staging import (
    HOLD,
    PAUSE,
    TEMPLATES,
    Prepare,
    Scenario,
    converged,
    left_by_the_go_operator,
    sync,
    template,
)
from tests.world import as_the_go_operator, owner_reference, takara

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tool import Tool
    from tests.world import World

CATALOGUE: list[Scenario] = []


def scenario(*flags: str) -> Callable[[Prepare], Prepare]:
    def enter(prepare: Prepare) -> Prepare:
        CATALOGUE.append(Scenario(prepare.__name__.replace("_", " "), prepare, flags))
        return prepare

    return enter


@scenario()
def create(world: World, _tool: Tool) -> None:
    world.create(takara("one", 3), takara("n" * 80, 1))


@scenario()
def size_0(world: World, tool: Tool) -> None:
    converged(world, tool, takara("some", 2))
    world.merge("some", {"spec": {"size": 0}})
    world.create(takara("none", 0))


@scenario()
def nothing_to_do(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 1))


@scenario()
def size_changed(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 3))
    world.merge("one", {"spec": {"size": 5}})


@scenario(*TEMPLATES)
def template_allowed(world: World, _tool: Tool) -> None:
    main = {"name": "main", "image": "nginx:1", "resources": {"limits": {"cpu": "1000m", "memory": 1048576}}}
    world.create(takara("one", 1, template=template(main)))


@scenario(*TEMPLATES)
def template_changed(world: World, tool: Tool) -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "name": "old"}]
    first = {"name": "main", "image": "nginx:1", "env": [{"name": "A", "value": "1"}], "ports": ports}
    pod = template(first, {"name": "side", "image": "busybox"}, terminationGracePeriodSeconds=5)
    converged(world, tool, takara("one", 1, template=pod))
    second = {"name": "main", "image": "nginx:2", "args": ["-v"], "ports": ports[:1]}
    world.merge("one", {"spec": {"template": {"spec": {"containers": [second], "terminationGracePeriodSeconds": 7}}}})


@scenario(*TEMPLATES)
def template_withdrawn(world: World, tool: Tool) -> None:
    labels = {"metadata": {"labels": {"tier": "web"}}}
    converged(world, tool, takara("one", 1, template=labels | template({"name": "main", "image": "nginx:1"})))
    world.merge("one", {"spec": {"template": None}})


@scenario()
def scaled_by_kubectl(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 3))
    world.kubectl("scale", "deployment/one", "--replicas=7")


@scenario()
def scaled_and_reimaged(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 3))
    world.kubectl("scale", "deployment/one", "--replicas=7")
    world.kubectl("set", "image", "deployment/one", "takara=nginx")


@scenario()
def label_removed(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 1))
    world.kubectl("label", "deployment/one", "app-")


@scenario()
def restarted(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 1))
    world.kubectl("rollout", "restart", "deployment/one")


@scenario()
def fields_of_others(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 1))
    env = {"spec": {"template": {"spec": {"containers": [{"name": "takara", "env": [{"name": "A", "value": "1"}]}]}}}}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "one"}} | env
    path = f"/apis/apps/v1/namespaces/{world.namespace}/deployments/one?fieldManager=gitops"
    world.call("PATCH", path, body, content_type="application/apply-patch+yaml")


@scenario()
def deployment_lost(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 1))
    world.kubectl("delete", "deployment/one")


@scenario()
def status_lost(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 1))
    patch = {"status": {"deployment": None, "conditions": None}}
    world.call("PATCH", f"{world.takara_path('one')}/status", patch, content_type="application/merge-patch+json")


@scenario()
def our_entry_lost(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 1))
    world.merge_deployment("one", {"metadata": {"managedFields": [{}]}})


@scenario()
def contested(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 3))
    world.kubectl("scale", "deployment/one", "--replicas=7")
    sync(world, tool)
    world.kubectl("scale", "deployment/one", "--replicas=7")


@scenario()
def contested_with_other_drift(world: World, tool: Tool) -> None:
    contested(world, tool)
    sync(world, tool)
    world.kubectl("set", "image", "deployment/one", "takara=nginx")


# ------------------------------------------------------------------ the Go operator


@scenario()
def take_over(world: World, _tool: Tool) -> None:
    left_by_the_go_operator(world, "old")


@scenario()
def take_over_with_env(world: World, _tool: Tool) -> None:
    left_by_the_go_operator(world, "old", env=[{"name": "OLD", "value": "1"}], image="busybox:1")


@scenario()
def take_over_without_managed_fields(world: World, _tool: Tool) -> None:
    left_by_the_go_operator(world, "old", env=[{"name": "OLD", "value": "1"}])
    world.merge_deployment("old", {"metadata": {"managedFields": [{}]}})


@scenario()
def take_over_of_what_others_changed(world: World, _tool: Tool) -> None:
    left_by_the_go_operator(world, "old")
    world.kubectl("rollout", "restart", "deployment/old")
    world.kubectl("scale", "deployment/old", "--replicas=7")


# ------------------------------------------------------------------ hands off


@scenario()
def blocked_by_a_deployment_of_nobody(world: World, _tool: Tool) -> None:
    (owner,) = world.create(takara("strange", 2))
    body = as_the_go_operator(owner, 5)
    del body["metadata"]["ownerReferences"]
    world.post_deployment(body)


@scenario()
def blocked_by_a_deployment_of_another(world: World, _tool: Tool) -> None:
    owner, another = world.create(takara("strange", 2), takara("another", 1))
    body = as_the_go_operator(owner, 5)
    body["metadata"]["ownerReferences"] = [owner_reference(another)]
    body["metadata"]["labels"] = {"app": "takara"}
    world.post_deployment(body)


@scenario()
def blocked_by_a_deployment_of_a_predecessor(world: World, _tool: Tool) -> None:
    (owner,) = world.create(takara("strange", 2))
    body = as_the_go_operator(owner, 5)
    body["metadata"] |= HOLD["metadata"]  # garbage collection must not take it away meanwhile
    body["metadata"]["ownerReferences"][0]["uid"] = "00000000-0000-0000-0000-000000000000"
    world.post_deployment(body)


@scenario()
def newer_format(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 1))
    patch = {"status": {"deployment": {"format": 99}}}
    world.call("PATCH", f"{world.takara_path('one')}/status", patch, content_type="application/merge-patch+json")
    world.kubectl("scale", "deployment/one", "--replicas=7")


@scenario("--max-size", "5")
def invalid(world: World, tool: Tool) -> None:
    converged(world, tool, takara("was-good", 2))
    world.merge("was-good", {"spec": {"size": 6}})
    world.create(takara("large", 6), takara("unallowed", 1, template=template({"name": "c", "image": "i"})))


@scenario()
def paused(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 2))
    world.merge("one", PAUSE | {"spec": {"size": 5}})
    world.create(takara("new", 1) | {"metadata": PAUSE["metadata"] | {"name": "new"}})


@scenario()
def deleting(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 1))
    world.merge_deployment("one", HOLD)
    world.kubectl("delete", "tk/one", "--cascade=foreground", "--wait=false")
    world.kubectl("scale", "deployment/one", "--replicas=4")


@scenario()
def leaving(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 1))
    world.merge_deployment("one", HOLD)
    world.kubectl("delete", "deployment/one", "--wait=false")


@scenario()
def a_mixed_fleet(world: World, tool: Tool) -> None:
    converged(world, tool, takara("calm", 1), takara("grown", 1), takara("scaled", 2), takara("halted", 1))
    blocked_by_a_deployment_of_nobody(world, tool)
    take_over(world, tool)
    world.merge("grown", {"spec": {"size": 4}})
    world.kubectl("scale", "deployment/scaled", "--replicas=7")
    world.merge("halted", PAUSE | {"spec": {"size": 5}})
    world.create(takara("fresh", 1), takara("huge", 1001))
