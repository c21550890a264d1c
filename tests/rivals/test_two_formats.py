"""Two versions of takara-sync at once, of which the newer one makes another default body: the newer one wins, once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import count as count_from

import pytest

from takara_sync import Policy, Report
from tests.commands.staging import left_by_the_go_operator
from tests.contract.simulated import Simulated
from tests.rivals import newer
from tests.rivals.others import image_of, take
from tests.rivals.passes import START, Passes, of_deployments
from tests.support.takaras import takara
from tests.world import World

OLDER_IMAGE = "busybox"


class Versions:
    """The older program and the newer one; each has a user of its own."""

    def __init__(self, world: World, **policy: bool) -> None:
        self.world = world
        self.old, self.new = Passes(world, Policy(**policy)), Passes(world)  # type: ignore[arg-type]

    def older(self) -> Report:
        return self.old.once()

    def newer(self, point: int | None = None, meanwhile: Callable[[], object] = lambda: None) -> Report:
        """A pass of the newer one; ahead of its request number `point` something happens in the older one's world."""
        with pytest.MonkeyPatch.context() as patch:
            newer.become_newer(patch)

            def as_the_older() -> None:
                patch.undo()
                meanwhile()
                newer.become_newer(patch)

            return self.new.held_up(-1 if point is None else point, as_the_older)


def check_no_flip_flop(versions: Versions) -> None:
    """The newer one makes the Deployment its own by one change; after that neither changes it, in whatever order.

    The older one does not even repair drift.
    """
    world, before = versions.world, len(versions.old.writes)
    assert versions.newer().exit == 0
    generation = world.deployment("one")["metadata"]["generation"]
    for number in range(6):
        report = versions.older()
        assert (report.exit, [outcome.reason for outcome in report.takaras]) == (6, ["NewerFormat"])
        if number % 2:
            assert versions.newer().exit == 0
    assert versions.old.writes[before:] == []  # its status is left alone too
    assert world.deployment("one")["metadata"]["generation"] == generation
    assert image_of(world) == newer.IMAGE
    assert world.status("one")["deployment"]["format"] == newer.FORMAT
    take(world, 7, "kubectl")
    assert versions.older().exit == 6
    assert world.deployment("one")["spec"]["replicas"] == 7


@pytest.mark.parametrize("began", ["older", "newer"])
def test_the_newer_one_wins_once(world: World, began: str) -> None:
    versions = Versions(world)
    world.create(takara("one", 1))
    first = versions.older() if began == "older" else versions.newer()
    assert first.exit == 0
    generation = world.deployment("one")["metadata"]["generation"]
    check_no_flip_flop(versions)
    assert world.deployment("one")["metadata"]["generation"] == generation + 1 + (began == "older")  # 1: the drift


@pytest.fixture
def a_second_each(simulated: Simulated) -> None:
    """Each request takes a second: by its time, in whole seconds, one apply differs from another."""
    store = simulated.store
    store.now = lambda: START + timedelta(seconds=len(store.requests))


@pytest.mark.usefixtures("a_second_each")
@pytest.mark.parametrize("began", ["nobody", "older", "newer"])
@pytest.mark.parametrize("held_up", ["older", "newer"])
def test_one_is_held_up_anywhere_while_the_other_one_runs(
    new_arena: Callable[[], World], held_up: str, began: str, count: Callable[[str, int], None]
) -> None:
    """Ahead of each request; after one more pass of each, the Deployment is the newer one's for good."""
    points = next(point for point in count_from(0) if not check_held_up(Versions(new_arena()), held_up, began, point))
    assert points >= 3
    count("points at which two versions met", points)


def check_held_up(versions: Versions, held_up: str, began: str, point: int) -> bool:
    """Whether the pass came to that request. It ends with 6 if it is the older one, and met the newer record."""
    world = versions.world
    world.create(takara("one", 1))
    if began != "nobody":
        assert (versions.older() if began == "older" else versions.newer()).exit == 0
        world.merge("one", {"spec": {"size": 2}})
    met: list[Report] = []
    if held_up == "newer":
        report = versions.newer(point, lambda: met.append(versions.older()))
        assert report.exit == 0
    else:
        report = versions.old.held_up(point, lambda: met.append(versions.newer()))
        assert report.exit in (0, 6)
        assert not met or world.status("one")["deployment"]["format"] == newer.FORMAT
    if met:
        check_no_flip_flop(versions)
    return bool(met)


ANNOTATION = "maho.takara.org/format"


def lose_the_record(world: World) -> None:
    wipe = {"status": {"deployment": None}}
    world.call("PATCH", f"{world.takara_path('one')}/status", wipe, content_type="application/merge-patch+json")


def test_the_deployment_has_the_format_too(world: World) -> None:
    """Without the record the older one reads it from the Deployment."""
    versions = Versions(world)
    world.create(takara("one", 1))
    versions.newer()
    assert world.deployment("one")["metadata"]["annotations"][ANNOTATION] == str(newer.FORMAT)
    lose_the_record(world)
    assert versions.older().exit == 6
    check_no_flip_flop(versions)


@pytest.mark.parametrize("value", ["999", "-1", "x", "²", None])
def test_an_annotation_of_somebody_else_does_not_count(world: World, value: str | None) -> None:
    """It costs one flip; the newer one takes it back, once, and is known again."""
    versions = Versions(world)
    world.create(takara("one", 1))
    versions.newer()
    world.merge_deployment("one", {"metadata": {"annotations": {ANNOTATION: value}}})
    lose_the_record(world)
    assert versions.older().exit == 0
    assert image_of(world) == OLDER_IMAGE
    assert world.deployment("one")["metadata"]["annotations"][ANNOTATION] == str(newer.FORMAT - 1)
    check_no_flip_flop(versions)


def test_the_annotation_is_added_only_by_a_change_of_the_spec(world: World) -> None:
    """To add it alone would be a new generation: neither a settled nor a take-over pass does."""
    passes = Passes(world)
    left_by_the_go_operator(world, "one")
    generation = world.deployment("one")["metadata"]["generation"]
    passes.settle()
    found = world.deployment("one")["metadata"]
    assert (found["generation"], ANNOTATION in found.get("annotations", {})) == (generation, False)
    world.merge("one", {"spec": {"size": 5}})
    passes.settle()
    found = world.deployment("one")["metadata"]
    assert (found["generation"], found["annotations"][ANNOTATION]) == (generation + 1, "1")
    world.merge_deployment("one", {"metadata": {"annotations": {ANNOTATION: "7"}}})
    passes.settle()
    assert world.deployment("one")["metadata"]["annotations"][ANNOTATION] == "1"


def test_a_rollback_is_asked_for(world: World) -> None:
    versions = Versions(world, accept_newer_format=True)
    world.create(takara("one", 1))
    versions.newer()
    report = versions.older()
    assert report.exit == 0
    assert ("busybox:2", "busybox") in [(change.old, change.new) for change in report.takaras[0].changes]
    assert image_of(world) == OLDER_IMAGE
    assert world.status("one")["deployment"]["format"] == newer.FORMAT - 1
    versions.old.policy = Policy()  # the flag has done its work: without it nothing is newer any more
    assert versions.older().exit == 0
    assert of_deployments(versions.old.sync()) == []
