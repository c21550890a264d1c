"""The Go operator: its Deployments are taken over, and one that still runs is named."""

from __future__ import annotations

import logging

import pytest

from tests.support.takaras import takara
from tests.unit.people import GO_OPERATOR
from tests.unit.world import World, result


def taken_over(manager: str = GO_OPERATOR) -> World:
    world = World(takara("one", 3))
    world.deploy(manager=manager)
    (outcome,) = world.sync().takaras
    assert (str(outcome.result), outcome.reason) == ("taken over", "")
    found_by_the_create = ["create", "get deployment", "get takara"]
    assert world.verbs() == [*found_by_the_create, "take over", "apply", "write status"]
    world.minutes = 1
    return world


def test_its_size_is_no_contest_afterwards() -> None:
    world = World(takara("one", 3))
    world.deploy(replicas=9)
    assert (result(world.sync()), world.replicas()) == ("taken over", 3)
    world.minutes = 1
    world.scale(manager="kubectl")
    assert result(world.sync()) == "updated"


@pytest.mark.parametrize("manager", [GO_OPERATOR, "takara-operator-local"])
def test_one_that_still_runs_is_named_when_it_writes_again(manager: str) -> None:
    world = taken_over(manager)
    path = "/apis/apps/v1/namespaces/ns/deployments/one"
    world.ask("PATCH", path, {"spec": {"replicas": 4}}, manager=manager)
    report = world.sync()
    (outcome,) = report.takaras
    assert (str(outcome.result), outcome.reason, report.exit) == ("taken over", "LegacyManagerActive", 0)
    assert (
        outcome.message
        == f"After the take-over {manager} wrote the Deployment again. Is the Go operator still running? Stop it."
    )
    assert [line.levelno for line in world.records if "LegacyManagerActive" in line.getMessage()] == [logging.WARNING]


def test_cleared_managed_fields_are_no_sign_of_it() -> None:
    world = taken_over()
    world.clear_managed_fields()
    world.scale(replicas=4)
    assert [one.reason for one in world.sync().takaras] == [""]


@pytest.mark.parametrize(
    ("status", "reason"),
    [({"nodes": ["p"]}, "StatusOverwritten"), ({"nodes": ["p"], "observedGeneration": -1}, ""), ({}, ""), (None, "")],
)
def test_a_status_that_it_replaced_is_named_where_we_had_applied(status: object, reason: str) -> None:
    """A pass that was killed before it wrote a status leaves no nodes behind."""
    world = taken_over()
    path = "/apis/maho.takara.org/v1alpha1/namespaces/ns/takaras/one/status"
    world.ask("PUT", path, world.get("Takara") | {"status": status})
    (outcome,) = world.sync().takaras
    assert (str(outcome.result), outcome.reason) == ("unchanged", reason)
    assert ("Go operator" in outcome.message) == bool(reason)
