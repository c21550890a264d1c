"""What is read by name before anything is decided, because the list does not hold it."""

from __future__ import annotations

from takara_sync.plan import Policy
from tests.support.takaras import takara
from tests.unit.world import World, result


def test_the_size_is_read_again_after_a_deployment_that_was_looked_up() -> None:
    """Otherwise the older size could be applied to a newer Deployment."""
    world = World(takara("one", 3))
    world.deploy(replicas=9)
    world.before("get deployment", lambda: world.edit(size=5))
    (outcome,) = world.sync(Policy(max_changes=9)).takaras
    assert [(c.old, c.new) for c in outcome.changes if c.field == "spec.replicas"] == [(9, 5)]
    assert world.verbs() == ["get deployment", "get takara", "take over", "apply", "write status"]


def test_a_predecessors_deployment_is_waited_for_and_then_the_new_one_is_created() -> None:
    world = World(takara("one", 3))
    world.sync()
    world.delete("Takara")
    world.create("ns", takara("one", 4))
    for minutes, words in ((0, "skipped"), (5, "skipped"), (5.1, "blocked")):
        world.minutes = minutes
        report = world.sync()
        assert (result(report), report.exit) == (words, 6 if words == "blocked" else 0)
        assert world.reason() == "DeploymentOfPredecessor"
    world.settle()
    assert result(world.sync()) == "created"
    assert (world.replicas(), world.reason()) == (4, "Progressing")


def test_a_deployment_that_cannot_be_read_is_looked_up_by_name_where_it_may_be_anybodys() -> None:
    """An item of the list without a usable name: every Takara without a Deployment is made sure of."""
    world = World(takara("one", 3))
    world.deploy()
    world.spoil("zzz", metadata={"namespace": "ns", "name": "NOT A NAME", "labels": {"app": "takara"}})
    assert result(world.sync()) == "taken over"
    assert world.verbs()[0] == "get deployment"
