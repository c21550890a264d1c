"""`--wait`: passes until every Takara is Ready, and early with the pass's code where one needs a person."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.commands.running import ON_THE_SIMULATOR, Commands
from tests.commands.scenarios import blocked_by_a_deployment_of_nobody, contested, deleting, paused
from tests.commands.staging import TEMPLATES, Prepare, scene, template
from tests.world import World, takara


@contextmanager
def after_the_first_pass(world: World, work: Callable[[], object]) -> Iterator[None]:
    """Somebody does this as soon as there is a Deployment `one`."""

    def wait_and_work() -> None:
        while not world.has_deployment("one"):
            time.sleep(0.05)
        work()

    worker = threading.Thread(target=wait_and_work, daemon=True)
    worker.start()
    yield
    worker.join(60)


def test_it_ends_when_every_takara_is_ready(world: World, commands: Commands) -> None:
    """One report says what all its passes did: an earlier one than the last created the Takaras."""
    names = ("one", "two", "none")
    world.create(takara("one", 2), takara("two", 1), takara("none", 0))

    def kubelet() -> None:
        for name in names:
            while not world.has_deployment(name):
                time.sleep(0.05)
            world.server.make_ready(world.namespace, name)

    with after_the_first_pass(world, kubelet):
        done = commands.json("once", "--wait", "30s")

    assert (done.code, done.report["error"], done.stdout.count("\n")) == (0, None, 1)
    assert set(done.results.values()) == {"created"}
    assert {line["ready"] for line in done.report["takaras"]} == {"Ready"}
    assert {world.condition(name, "Ready")["status"] for name in names} == {"True"}


@ON_THE_SIMULATOR
def test_max_changes_counts_the_changes_of_all_its_passes(world: World, commands: Commands) -> None:
    world.create(takara("one", 1))
    with after_the_first_pass(world, lambda: world.kubectl("scale", "deployment/one", "--replicas=3")):
        done = commands.json("once", "--wait", "60s", "--max-changes", "1")

    assert (done.code, done.results) == (5, {"one": "not reached"})
    assert world.deployment("one")["spec"]["replicas"] == 3


@ON_THE_SIMULATOR
def test_who_is_not_ready_in_time_is_named(world: World, commands: Commands) -> None:
    world.create(takara("quick", 1), takara("slow", 1), takara("slower", 1))
    commands.converge()
    world.server.make_ready(world.namespace, "quick")

    done = commands.json("once", "--wait", "3s")

    assert done.code == 4
    message = done.report["error"]["message"]
    assert f"{world.namespace}/slow, {world.namespace}/slower" in message
    assert "quick" not in message
    assert message in done.log[-1]["message"]


STALLED: dict[str, tuple[Prepare, int]] = {
    "blocked": (blocked_by_a_deployment_of_nobody, 6),
    "invalid": (scene(new=[takara("strange", 1001)]), 6),
    "failed": (scene(new=[takara("strange", template=template({"name": "c", "image": "i", "ports": "eighty"}))]), 1),
}


@ON_THE_SIMULATOR
@pytest.mark.parametrize("result", STALLED)
def test_it_ends_early_where_one_is_stalled(world: World, commands: Commands, result: str) -> None:
    world.create(takara("slow", 1))
    prepare, code = STALLED[result]
    prepare(world, commands)

    done = commands.json("once", "--wait", "40s", *TEMPLATES)

    assert (done.code, done.results["strange"]) == (code, result)
    assert (done.report["error"], done.line_of("slow")["ready"]) == (None, "Progressing")  # else: not Ready in time


@ON_THE_SIMULATOR
def test_what_is_tolerated_is_not_waited_for_but_the_others_are(world: World, commands: Commands) -> None:
    world.create(takara("slow", 1), takara("big", 1001))

    done = commands.json("once", "--wait", "1s", "--tolerate", "invalid")

    assert done.code == 4
    assert f": {world.namespace}/slow" in done.report["error"]["message"]


@ON_THE_SIMULATOR
@pytest.mark.parametrize("prepare", [paused, contested, deleting], ids=["paused", "contested", "deleting"])
def test_it_does_not_wait_for_what_is_left_alone(world: World, commands: Commands, prepare: Prepare) -> None:
    prepare(world, commands)
    done = commands.json("once", "--wait", "40s")
    assert (done.code, done.report["error"]) == (0, None)
    assert "Ready" not in {line["ready"] for line in done.report["takaras"]}


@ON_THE_SIMULATOR
def test_a_signal_while_it_waits_ends_it_with_what_is_known(world: World, commands: Commands) -> None:
    """The report holds every Takara, although no pass was running."""
    world.create(takara("slow", 1))
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        commands.args("once", "--wait", "1h"), env=commands.environment(), stdout=pipe, stderr=pipe, text=True
    )
    while "conditions" not in world.takara("slow").get("status", {}):  # the last thing that a pass does
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    stdout, _ = process.communicate(timeout=60)

    report = json.loads(stdout)
    assert (process.returncode, report["exit"]) == (4, 4)
    assert [line["name"] for line in report["takaras"]] == ["slow"]
