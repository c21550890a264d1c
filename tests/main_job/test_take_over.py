"""Deployments as the Go operator left them are taken over without a pod noticing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.takaras import takara
from tests.tool import Tool
from tests.world import GO_OPERATOR, Json, World, as_the_go_operator


def _left_by_the_go_operator(world: World, name: str, size: int = 2, **container: Any) -> Json:
    (owner,) = world.create(takara(name, size))
    made = world.post_deployment(as_the_go_operator(owner, size, **container), GO_OPERATOR)
    world.server.make_ready(world.namespace, name)
    return made


def _clear_managed_fields(world: World, name: str) -> None:
    world.merge_deployment(name, {"metadata": {"managedFields": [{}]}})
    assert "managedFields" not in world.deployment(name)["metadata"]


def _restart(world: World, name: str) -> None:
    world.kubectl("rollout", "restart", f"deployment/{name}")
    world.server.make_ready(world.namespace, name)


PASTS = {
    "as it was": [],
    "restarted": [_restart],
    "managedFields removed": [_clear_managed_fields],
    "managedFields removed, then restarted": [_clear_managed_fields, _restart],
    "restarted, then managedFields removed": [_restart, _clear_managed_fields],
}


@pytest.mark.parametrize("past", PASTS.values(), ids=PASTS.keys())
def test_no_pod_notices_the_take_over(world: World, tool: Tool, past: list[Any]) -> None:
    _left_by_the_go_operator(world, "old")
    for step in past:
        step(world, "old")
    before, pods = world.deployment("old"), world.pods("old")

    first = tool.converge()

    after = world.deployment("old")
    assert first.results["old"] in ("taken over", "updated")
    assert after["metadata"]["generation"] == before["metadata"]["generation"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"] == before["spec"]
    assert world.pods("old") == pods
    assert after["metadata"]["ownerReferences"] == before["metadata"]["ownerReferences"]
    assert after["metadata"]["labels"] == {"app": "takara", "takara_cr": "old"}
    tool.converge()
    assert world.status("old")["nodes"] == pods
    assert world.deployment("old")["metadata"]["generation"] == before["metadata"]["generation"]
    tool.settled()


@pytest.mark.parametrize("past", PASTS.values(), ids=PASTS.keys())
def test_what_only_the_go_operator_held_goes_with_the_next_change(world: World, tool: Tool, past: list[Any]) -> None:
    _left_by_the_go_operator(world, "old", env=[{"name": "OLD", "value": "1"}])
    for step in past:
        step(world, "old")
    tool.converge()
    world.merge("old", {"spec": {"size": 3}})

    tool.converge()

    (container,) = world.deployment("old")["spec"]["template"]["spec"]["containers"]
    assert "env" not in container
    assert world.deployment("old")["spec"]["replicas"] == 3
    if _restart in past:
        assert "restartedAt" in str(world.deployment("old")["spec"]["template"]["metadata"]["annotations"])


def test_a_second_container_of_the_go_operator_goes(world: World, tool: Tool) -> None:
    (owner,) = world.create(takara("old", 1))
    body = as_the_go_operator(owner, 1)
    body["spec"]["template"]["spec"]["containers"].append({"name": "extra", "image": "busybox"})
    world.post_deployment(body, GO_OPERATOR)

    tool.converge()

    assert [c["name"] for c in world.deployment("old")["spec"]["template"]["spec"]["containers"]] == ["takara"]


def test_another_legacy_manager_can_be_named(world: World, tool: Tool) -> None:
    (owner,) = world.create(takara("old", 1))
    body = as_the_go_operator(owner, 1, env=[{"name": "OLD", "value": "1"}])
    world.post_deployment(body, "our-own-operator")

    tool.converge("--legacy-manager", "our-own-operator,before-first-apply")

    assert "env" not in world.deployment("old")["spec"]["template"]["spec"]["containers"][0]
