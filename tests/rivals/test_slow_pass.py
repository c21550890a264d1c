"""A slow old pass against a new one: held up at any request, while the world goes on and a whole other pass runs."""

from __future__ import annotations

import random
from itertools import count as count_from
from typing import TYPE_CHECKING

import pytest

from tests.rivals.history import History
from tests.rivals.others import deployment_path, set_image, take
from tests.rivals.passes import Passes
from tests.support.takaras import takara
from tests.world import GO_OPERATOR, World, as_the_go_operator

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.world import Json

    Step = Callable[[World, Passes], None]

OLD, NEW = 2, 5


# ------------------------------------------------------------------ what the slow pass finds


def new(world: World, _: Passes) -> None:
    """Create, tell."""
    world.create(takara("one", OLD))


def grown(world: World, passes: Passes) -> None:
    """Apply, tell: the size was changed once already."""
    world.create(takara("one", 1))
    passes.settle()
    world.merge("one", {"spec": {"size": OLD}})


def scaled(world: World, passes: Passes) -> None:
    world.create(takara("one", OLD))
    passes.settle()
    take(world, 9, "kubectl")


def reimaged(world: World, passes: Passes) -> None:
    world.create(takara("one", OLD))
    passes.settle()
    set_image(world, "nginx")


def left_by_the_go_operator(world: World, _: Passes) -> None:
    """Create, which finds one; take over, apply, tell."""
    (owner,) = world.create(takara("one", OLD))
    world.post_deployment(as_the_go_operator(owner, 1), GO_OPERATOR)


def labelled_by_the_go_operator(world: World, _: Passes) -> None:
    """Take over, apply, tell."""
    left_by_the_go_operator(world, _)
    world.call(
        "PATCH",
        deployment_path(world, manager=GO_OPERATOR),
        {"metadata": {"labels": {"app": "takara"}}},
        content_type="application/merge-patch+json",
    )


def status_lost(world: World, passes: Passes) -> None:
    """Tell."""
    world.create(takara("one", OLD))
    passes.settle()
    wipe = {"status": {"nodes": ["gone"], "replicas": 77}}
    world.call("PATCH", f"{world.takara_path('one')}/status", wipe, content_type="application/merge-patch+json")


FOUND = [new, grown, scaled, reimaged, left_by_the_go_operator, labelled_by_the_go_operator, status_lost]


# ------------------------------------------------------------------ what happens meanwhile


def resized(world: World, other: Passes) -> None:
    world.merge("one", {"spec": {"size": NEW}})
    other.sync()


def resized_twice(world: World, other: Passes) -> None:
    """To and fro and on: the generation moves, and the middle size is the old one."""
    for size in (9, OLD, NEW):
        world.merge("one", {"spec": {"size": size}})
        other.sync()


def made_anew(world: World, other: Passes) -> None:
    """Another Takara of that name; the Deployment of the old one is collected first."""
    world.server.call("DELETE", world.takara_path("one"))
    world.settle()
    world.create(takara("one", NEW))
    other.sync()


def deployment_lost(world: World, other: Passes) -> None:
    world.merge("one", {"spec": {"size": NEW}})
    path = f"/apis/apps/v1/namespaces/{world.namespace}/deployments/one"
    world.server.call("DELETE", path)
    other.sync()
    other.sync()  # one that it found lost between its list and its apply is made by this one


MEANWHILE = [resized, resized_twice, made_anew, deployment_lost]

# ------------------------------------------------------------------ the promise


def check_held_up_at(world: World, point: int, found: Step, meanwhile: Step) -> bool:
    """Holds a pass up ahead of its request number `point`; whether it has so many.

    From the end of the other pass on, no version of the Deployment may have another size than the new one, and no
    version of the status may be of an older generation.
    """
    slow, other = Passes(world), Passes(world)
    found(world, other)
    history = History(world)
    marks: list[tuple[str, str]] = []

    def held_up() -> None:
        meanwhile(world, other)
        marks.append((version(world.deployment("one")), version(world.takara("one"))))

    report = slow.held_up(point, held_up)
    if not marks:
        return False
    deployment_mark, takara_mark = marks[0]
    assert sizes_since(history, deployment_mark) <= {NEW}
    assert world.deployment("one")["spec"]["replicas"] == NEW
    assert report.exit == 0, report
    check_statuses(history, world.takara("one")["metadata"]["uid"], takara_mark)
    if world.server.name == "real":  # a rollout needs ready pods to come to its end
        world.server.make_ready(world.namespace, "one")
    other.settle()
    assert world.deployment("one")["spec"]["replicas"] == NEW
    assert world.status("one")["nodes"] == world.pods("one")
    return True


def check_held_up_anywhere(new_arena: Callable[[], World], found: Step, meanwhile: Step) -> int:
    """Every point, each in a world of its own; how many there are."""
    return next(point for point in count_from(0) if not check_held_up_at(new_arena(), point, found, meanwhile))


def version(value: Json) -> str:
    return str(value["metadata"]["resourceVersion"])


def sizes_since(history: History, mark: str) -> set[int]:
    versions = history.of("Deployment", "one")
    return {one["spec"]["replicas"] for one in versions if int(version(one)) >= int(mark)}


def check_statuses(history: History, uid: str, mark: str) -> None:
    """A status is never of an older generation than the one before."""
    versions = [one for one in history.of("Takara", "one") if one["metadata"]["uid"] == uid]
    generations = [(one.get("status") or {}).get("observedGeneration", -1) for one in versions]
    assert generations == sorted(generations)
    since = {one["status"]["observedGeneration"] for one in versions if int(version(one)) >= int(mark)}
    assert since == {versions[-1]["metadata"]["generation"]}


@pytest.mark.parametrize("meanwhile", MEANWHILE, ids=lambda each: each.__name__)
@pytest.mark.parametrize("found", FOUND, ids=lambda each: each.__name__)
def test_a_pass_held_up_anywhere_puts_nothing_older_over_the_newer(
    new_arena: Callable[[], World],
    count: Callable[[str, int], None],
    found: Step,
    meanwhile: Step,
) -> None:
    points = check_held_up_anywhere(new_arena, found, meanwhile)
    assert points >= 4  # three lists and a write at least
    count("points at which a slow pass was held up", points)


@pytest.mark.parametrize("trial", range(6))
def test_on_a_real_server(real_world: World, seed: int, trial: int, count: Callable[[str, int], None]) -> None:
    """Each kind of start once or so; the point and what happens meanwhile are drawn."""
    drawn = random.Random(seed * 100 + trial)  # noqa: S311 - repeatable trials
    found = FOUND[trial % len(FOUND)]
    meanwhile = drawn.choice([resized, resized_twice, deployment_lost])
    assert check_held_up_at(real_world, drawn.randint(0, 3), found, meanwhile)
    count("points at which a slow pass was held up on a real server", 1)
