"""What a pass can meet: each a function that makes it so, with the flags that the passes need."""

from __future__ import annotations

from tests.commands.staging import (
    HOLD,
    PAUSE,
    TEMPLATES,
    Scenario,
    converged,
    left_by_the_go_operator,
    scene,
    sync,
    template,
)
from tests.tool import Tool
from tests.world import World, as_the_go_operator, owner_reference, takara

CPU_AND_MEMORY = {"limits": {"cpu": "1000m", "memory": 1048576}}
TWO_PORTS = [{"containerPort": 80}, {"containerPort": 81, "name": "old"}]
FIRST = template(
    {"name": "main", "image": "nginx:1", "env": [{"name": "A", "value": "1"}], "ports": TWO_PORTS},
    {"name": "side", "image": "busybox"},
    terminationGracePeriodSeconds=5,
)
SECOND = template(
    {"name": "main", "image": "nginx:2", "args": ["-v"], "ports": TWO_PORTS[:1]}, terminationGracePeriodSeconds=7
)
LABELLED = {"metadata": {"labels": {"tier": "web"}}} | template({"name": "main", "image": "nginx:1"})
OLD_ENV = [{"name": "OLD", "value": "1"}]

scaled_by_kubectl = scene(takara("one", 3), kubectl=["scale deployment/one --replicas=7"])
scaled_and_reimaged = scene(
    takara("one", 3), kubectl=["scale deployment/one --replicas=7", "set image deployment/one takara=nginx"]
)
paused = scene(
    takara("one", 2),
    takaras={"one": PAUSE | {"spec": {"size": 5}}},
    new=[takara("new", 1) | {"metadata": PAUSE["metadata"] | {"name": "new"}}],
)


def fields_of_others(world: World, tool: Tool) -> None:
    converged(world, tool, takara("one", 1))
    env = {"spec": {"template": {"spec": {"containers": [{"name": "takara", "env": [{"name": "A", "value": "1"}]}]}}}}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "one"}} | env
    path = f"/apis/apps/v1/namespaces/{world.namespace}/deployments/one?fieldManager=gitops"
    world.call("PATCH", path, body, content_type="application/apply-patch+yaml")


def contested(world: World, tool: Tool) -> None:
    scaled_by_kubectl(world, tool)
    sync(world, tool)
    world.kubectl("scale", "deployment/one", "--replicas=7")


def contested_with_other_drift(world: World, tool: Tool) -> None:
    contested(world, tool)
    sync(world, tool)
    world.kubectl("set", "image", "deployment/one", "takara=nginx")


# ------------------------------------------------------------------ the Go operator


def take_over(world: World, _tool: Tool) -> None:
    left_by_the_go_operator(world, "old")


def take_over_with_env(world: World, _tool: Tool) -> None:
    left_by_the_go_operator(world, "old", env=OLD_ENV, image="busybox:1")


def take_over_without_managed_fields(world: World, _tool: Tool) -> None:
    left_by_the_go_operator(world, "old", env=OLD_ENV)
    world.merge_deployment("old", {"metadata": {"managedFields": [{}]}})


def take_over_of_what_others_changed(world: World, _tool: Tool) -> None:
    left_by_the_go_operator(world, "old")
    world.kubectl("rollout", "restart", "deployment/old")
    world.kubectl("scale", "deployment/old", "--replicas=7")


# ------------------------------------------------------------------ hands off


def blocked_by_a_deployment_of_nobody(world: World, _tool: Tool) -> None:
    (owner,) = world.create(takara("strange", 2))
    body = as_the_go_operator(owner, 5)
    del body["metadata"]["ownerReferences"]
    world.post_deployment(body)


def blocked_by_a_deployment_of_another(world: World, _tool: Tool) -> None:
    owner, another = world.create(takara("strange", 2), takara("another", 1))
    body = as_the_go_operator(owner, 5)
    body["metadata"] |= {"ownerReferences": [owner_reference(another)], "labels": {"app": "takara"}}
    world.post_deployment(body)


def waiting_for_a_predecessor(world: World, _tool: Tool) -> None:
    (owner,) = world.create(takara("strange", 2))
    body = as_the_go_operator(owner, 5)
    body["metadata"] |= HOLD["metadata"]  # garbage collection must not take it away meanwhile
    body["metadata"]["ownerReferences"][0]["uid"] = "00000000-0000-0000-0000-000000000000"
    world.post_deployment(body)


def deleting(world: World, tool: Tool) -> None:
    scene(takara("one", 1), deployments={"one": HOLD})(world, tool)
    world.kubectl("delete", "tk/one", "--cascade=foreground", "--wait=false")
    world.kubectl("scale", "deployment/one", "--replicas=4")


def leaving(world: World, tool: Tool) -> None:
    scene(takara("one", 1), deployments={"one": HOLD})(world, tool)
    world.kubectl("delete", "deployment/one", "--wait=false")


def a_mixed_fleet(world: World, tool: Tool) -> None:
    fleet = scene(
        *(takara(name, 1) for name in ("calm", "grown", "halted", "scaled")),
        kubectl=["scale deployment/scaled --replicas=7"],
        takaras={"grown": {"spec": {"size": 4}}, "halted": PAUSE | {"spec": {"size": 5}}},
        new=[takara("fresh", 1), takara("huge", 1001)],
    )
    fleet(world, tool)
    blocked_by_a_deployment_of_nobody(world, tool)
    take_over(world, tool)


CATALOGUE = [
    Scenario("create", scene(new=[takara("one", 3), takara("n" * 80, 1)])),
    Scenario("size 0", scene(takara("some", 2), takaras={"some": {"spec": {"size": 0}}}, new=[takara("none", 0)])),
    Scenario("nothing to do", scene(takara("one", 1))),
    Scenario("size changed", scene(takara("one", 3), takaras={"one": {"spec": {"size": 5}}})),
    Scenario(
        "template allowed",
        scene(new=[takara("one", 1, template=template({"name": "m", "image": "i", "resources": CPU_AND_MEMORY}))]),
        TEMPLATES,
    ),
    Scenario(
        "template changed",
        scene(takara("one", 1, template=FIRST), takaras={"one": {"spec": {"template": SECOND}}}),
        TEMPLATES,
    ),
    Scenario(
        "template withdrawn",
        scene(takara("one", 1, template=LABELLED), takaras={"one": {"spec": {"template": None}}}),
        TEMPLATES,
    ),
    Scenario("scaled by kubectl", scaled_by_kubectl),
    Scenario("scaled and reimaged", scaled_and_reimaged),
    Scenario("label removed", scene(takara("one", 1), kubectl=["label deployment/one app-"])),
    Scenario("restarted", scene(takara("one", 1), kubectl=["rollout restart deployment/one"])),
    Scenario("fields of others", fields_of_others),
    Scenario("deployment lost", scene(takara("one", 1), kubectl=["delete deployment/one"])),
    Scenario("status lost", scene(takara("one", 1), statuses={"one": {"deployment": None, "conditions": None}})),
    Scenario("our entry lost", scene(takara("one", 1), deployments={"one": {"metadata": {"managedFields": [{}]}}})),
    Scenario("contested", contested),
    Scenario("contested with other drift", contested_with_other_drift),
    Scenario("take over", take_over),
    Scenario("take over with env", take_over_with_env),
    Scenario("take over without managed fields", take_over_without_managed_fields),
    Scenario("take over of what others changed", take_over_of_what_others_changed),
    Scenario("blocked by a deployment of nobody", blocked_by_a_deployment_of_nobody),
    Scenario("blocked by a deployment of another", blocked_by_a_deployment_of_another),
    Scenario("waiting for a predecessor", waiting_for_a_predecessor),
    Scenario(
        "newer format",
        scene(
            takara("one", 1),
            statuses={"one": {"deployment": {"format": 99}}},
            kubectl=["scale deployment/one --replicas=7"],
        ),
    ),
    Scenario(
        "invalid",
        scene(
            takara("was-good", 2),
            takaras={"was-good": {"spec": {"size": 6}}},
            new=[takara("large", 6), takara("unallowed", 1, template=template({"name": "c", "image": "i"}))],
        ),
        ("--max-size", "5"),
    ),
    Scenario("paused", paused),
    Scenario("deleting", deleting),
    Scenario("leaving", leaving),
    Scenario("a mixed fleet", a_mixed_fleet),
]
