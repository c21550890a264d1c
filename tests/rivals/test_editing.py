"""A person, or a script of one, who edits the Takara and its Deployment as fast as the server takes it."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING

from takara_sync.act import ROUNDS
from tests.rivals.others import MERGE, deployment_path, set_image, take
from tests.rivals.passes import Passes
from tests.world import World, takara

if TYPE_CHECKING:
    from collections.abc import Callable

    from takara_sync import Report

NAMES = ("one", "two", "three")
LAST = 4


class Editor:
    """Edits until it is told to stop, and sets the size that is to be the last one."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._random = random.Random(seed)  # noqa: S311 - repeatable trials
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._edit_on)
        self.edits = 0
        self.failure: BaseException | None = None

    def __enter__(self) -> Editor:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._thread.join()
        if self.failure:
            raise self.failure

    def _edit_on(self) -> None:
        try:
            while not self._enough.is_set():
                self.edit(self._random.choice(NAMES))
        except BaseException as error:  # noqa: BLE001 - raised again by the test's own thread
            self.failure = error

    def edit(self, name: str) -> None:
        edits = (
            lambda: self._world.merge(name, {"spec": {"size": self._random.randint(0, 5)}}),
            lambda: self._world.merge(name, {"metadata": {"annotations": {"note": str(self.edits)}}}),
            lambda: take(self._world, self._random.randint(0, 9), "kubectl", name=name),
            lambda: set_image(self._world, self._random.choice(("nginx", "redis")), name=name),
            lambda: self._label(name),
        )
        self._random.choice(edits)()
        self.edits += 1

    def _label(self, name: str) -> None:
        path = deployment_path(self._world, name, manager="kubectl-label")
        self._world.call(
            "PATCH", path, {"metadata": {"labels": {"app": "takara", "n": str(self.edits)}}}, content_type=MERGE
        )


def check_pass(report: Report) -> int:
    """A pass among edits: every Takara is done, or named as one that others kept changing; how many were."""
    assert report.error is None, report
    given_up = [one for one in report.outcomes if one.result == "failed"]
    assert report.exit == (1 if given_up else 0), report
    assert {one.reason for one in given_up} <= {"Changed"}, given_up
    assert all("something else keeps writing" in one.message.lower() for one in given_up)
    return len(given_up)


def test_no_pass_fails_and_the_last_state_is_what_remains(
    world: World, seed: int, long: bool, count: Callable[[str, int], None]
) -> None:
    world.create(*(takara(name, 1) for name in NAMES))
    passes = Passes(world)
    passes.settle()
    many = 400 if long else 12 if world.server.name == "real" else 40
    with Editor(world, seed) as editor:
        given_up = sum(check_pass(passes.once(workers=len(NAMES))) for _ in range(many))
    count("edits beside passes", editor.edits)
    count("passes beside edits", many)
    count(f"Takaras that were edited more than {ROUNDS} times in one step", given_up)

    for name in NAMES:
        world.merge(name, {"spec": {"size": LAST}})
    passes.minutes = 3 * 1440.0  # a contest with the editor's own name ends by the new size; its wait is over too
    passes.sync()
    for name in NAMES:
        live = world.deployment(name)
        assert live["spec"]["replicas"] == LAST
        assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "busybox"
        world.server.make_ready(world.namespace, name)
    passes.settle()
    for name in NAMES:
        assert world.status(name)["nodes"] == world.pods(name)
        assert world.condition(name, "Ready")["status"] == "True"
