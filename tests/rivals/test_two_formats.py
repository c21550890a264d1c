"""Two versions of takara-sync at once, of which the newer one makes another default body: the newer one wins, once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from takara_sync import Policy
from tests.rivals import newer
from tests.rivals.history import History
from tests.rivals.others import image_of, take
from tests.rivals.passes import START, Passes, of_deployments
from tests.support.takaras import takara
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from takara_sync import Report
    from tests.contract.simulated import Simulated

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

    def newer_settles(self) -> None:
        self.world.server.make_ready(self.world.namespace, "one")
        assert self.newer().exit == 0


def check_no_flip_flop(versions: Versions) -> None:
    """In whatever order they run from now on, the Deployment is of the newer one, and its body changed once."""
    world, history = versions.world, History(versions.world)
    assert versions.newer().exit == 0
    before = len(versions.old.writes)
    for number in range(6):
        report = versions.older()
        assert (report.exit, [outcome.reason for outcome in report.outcomes]) == (6, ["NewerFormat"])
        if number % 2:
            assert versions.newer().exit == 0
    assert versions.old.writes[before:] == []  # its status is left alone too
    assert history.images("one") in ([], [newer.IMAGE], [OLDER_IMAGE, newer.IMAGE])
    assert image_of(world) == newer.IMAGE
    assert world.status("one")["deployment"]["format"] == newer.FORMAT


def test_the_older_one_began(world: World) -> None:
    versions = Versions(world)
    world.create(takara("one", 1))
    assert versions.older().exit == 0
    check_no_flip_flop(versions)


def test_the_newer_one_began(world: World) -> None:
    versions = Versions(world)
    world.create(takara("one", 1))
    check_no_flip_flop(versions)


def test_the_older_one_leaves_drift_to_the_newer(world: World) -> None:
    versions = Versions(world)
    world.create(takara("one", 1))
    versions.newer()
    take(world, 7, "kubectl")
    world.merge("one", {"spec": {"size": 2}})
    assert versions.older().exit == 6
    assert world.deployment("one")["spec"]["replicas"] == 7
    assert world.status("one")["observedGeneration"] == 1
    versions.newer()
    assert world.deployment("one")["spec"]["replicas"] == 2


@pytest.fixture
def a_second_each(simulated: Simulated) -> None:
    """Each request takes a second: by its time, in whole seconds, one apply differs from another."""
    store = simulated.store
    store.now = lambda: START + timedelta(seconds=len(store.requests))


@pytest.mark.usefixtures("a_second_each")
@pytest.mark.parametrize("began", ["nobody", "the older one", "the newer one"])
def test_a_newer_pass_held_up_anywhere_while_the_older_one_runs(
    new_arena: Callable[[], World], began: str, count: Callable[[str, int], None]
) -> None:
    """Whatever the older one does in between: after one more pass of each, it is the newer one's for good."""
    point = 0
    while check_held_up(Versions(new_arena()), began, point):
        point += 1
    count("points at which two versions met", point)


def check_held_up(versions: Versions, began: str, point: int) -> bool:
    world = versions.world
    world.create(takara("one", 1))
    if began != "nobody":
        assert (versions.older() if began == "the older one" else versions.newer()).exit == 0
    if began == "the older one":
        world.merge("one", {"spec": {"size": 2}})
    met: list[int] = []
    assert versions.newer(point, lambda: met.append(versions.older().exit)).exit == 0
    check_no_flip_flop(versions)
    return bool(met)


@pytest.mark.usefixtures("a_second_each")
@pytest.mark.parametrize("began", ["nobody", "the older one"])
def test_an_older_pass_held_up_anywhere_while_the_newer_one_runs(
    new_arena: Callable[[], World], began: str, count: Callable[[str, int], None]
) -> None:
    """Where it meets the newer record, it leaves that as it is."""
    point, met = 0, [True]
    while met:
        versions, met = Versions(new_arena()), []
        versions.world.create(takara("one", 1))
        if began == "the older one":
            versions.older()
            versions.world.merge("one", {"spec": {"size": 2}})
        report = versions.old.held_up(point, lambda: met.append(versions.newer().exit == 0))  # noqa: B023
        if met:
            assert report.exit in (0, 6), (point, report)  # 0 where its apply was the earlier one
            assert versions.world.status("one")["deployment"]["format"] == newer.FORMAT
            check_no_flip_flop(versions)
            point += 1
    count("points at which two versions met", point)


def test_a_lost_record_costs_one_flip_and_no_more(world: World) -> None:
    """Without the record the older one cannot know; the newer one takes it back, once, and is known again."""
    versions = Versions(world)
    world.create(takara("one", 1))
    versions.newer()
    wipe = {"status": {"deployment": None}}
    world.call("PATCH", f"{world.takara_path('one')}/status", wipe, content_type="application/merge-patch+json")
    assert versions.older().exit == 0
    assert image_of(world) == OLDER_IMAGE
    check_no_flip_flop(versions)


def test_a_rollback_is_asked_for(world: World) -> None:
    versions = Versions(world, accept_newer_format=True)
    world.create(takara("one", 1))
    versions.newer()
    report = versions.older()
    assert report.exit == 0
    assert ("busybox:2", "busybox") in [(change.old, change.new) for change in report.outcomes[0].changes]
    assert image_of(world) == OLDER_IMAGE
    assert world.status("one")["deployment"]["format"] == newer.FORMAT - 1
    versions.old.policy = Policy()  # the flag has done its work: without it nothing is newer any more
    assert versions.older().exit == 0
    assert of_deployments(versions.old.sync()) == []
