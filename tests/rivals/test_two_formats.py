"""Two versions of takara-sync at once, of which the newer one makes another default body: the newer one wins, once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from takara_sync import Policy
from tests.rivals import newer
from tests.rivals.history import History
from tests.rivals.others import image_of, take
from tests.rivals.passes import Passes, of_deployments
from tests.rivals.suspended import Suspended
from tests.tool import Tool
from tests.world import World, takara

if TYPE_CHECKING:
    from collections.abc import Callable

    from takara_sync import Report

ROOT = Path(__file__).parents[2]
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

            return self.new.once(lambda cluster: Suspended(cluster, -1 if point is None else point, as_the_older))

    def newer_settles(self) -> None:
        self.world.server.make_ready(self.world.namespace, "one")
        assert self.newer().exit == 0


def check_no_flip_flop(versions: Versions) -> None:
    """In whatever order they run from now on, the Deployment is of the newer one, and its body changed once."""
    world, history = versions.world, History(versions.world)
    assert versions.newer().exit == 0
    before = len(versions.old.api.writes)
    for number in range(6):
        report = versions.older()
        assert (report.exit, [outcome.reason for outcome in report.outcomes]) == (6, ["NewerFormat"])
        if number % 2:
            assert versions.newer().exit == 0
    assert versions.old.api.writes[before:] == []  # its status is left alone too
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


@pytest.mark.parametrize("began", ["nobody", "the older one"])
def test_an_older_pass_held_up_anywhere_while_the_newer_one_runs(
    new_arena: Callable[[], World], began: str, count: Callable[[str, int], None]
) -> None:
    """It meets the newer record sooner or later in its pass, and leaves it as it is."""
    point, met = 0, [True]
    while met:
        versions, met = Versions(new_arena()), []
        versions.world.create(takara("one", 1))
        if began == "the older one":
            versions.older()
            versions.world.merge("one", {"spec": {"size": 2}})
        report = versions.old.once(
            lambda cluster: Suspended(cluster, point, lambda: met.append(versions.newer().exit == 0))  # noqa: B023
        )
        if met:
            assert report.exit == 6, (point, report)
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


def test_both_commands_in_loops_at_once(real_world: World, count: Callable[[str, int], None]) -> None:
    """Real processes: once the newer one has told its format, the template never changes again.

    Before that the older one cannot know: a pass of its that falls between the apply and the record takes the body
    back, once; the newer one, whose record that pass made void or has yet to write, puts it there for good.
    """
    world = real_world
    world.create(*(takara(f"one-{number}", 1) for number in range(10)))
    older, later = Tool(world.server, world.namespace), Tool(world.server, world.namespace)
    assert older.once().code == 0
    history = History(world)
    loop = ("--interval", "0.2", "--duration", "4s")
    started = [
        subprocess.Popen(command, env=tool.environment(), cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for command, tool in (
            (older.args(*loop), older),
            ([sys.executable, "-m", "tests.rivals.newer", *later.args(*loop)[1:]], later),
        )
    ]
    outputs = [process.communicate(timeout=120)[0].splitlines() for process in started]
    assert started[0].returncode in (6, 4)  # the last pass of a bounded loop may be cut short
    assert started[1].returncode in (0, 4)
    for number in range(10):
        assert history.images(f"one-{number}")[-1] == newer.IMAGE
        back = history.images(f"one-{number}")[1:].count(OLDER_IMAGE)
        assert back <= 1
        count("bodies taken back by the older one before the newer one's record", back)
        assert world.status(f"one-{number}")["deployment"]["format"] == newer.FORMAT
    count("passes of two versions in loops at once", sum(map(len, outputs)))
