"""`--wait`: passes until every Takara is Ready, and early with the pass's code where one needs a person."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.commands.running import Commands
from tests.commands.scenarios import blocked_by_a_deployment_of_nobody
from tests.commands.staging import PAUSE, TEMPLATES, template
from tests.world import World, takara

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contract.simulated import Simulated


@contextmanager
def kubelet(world: World, *names: str) -> Iterator[None]:
    """Somebody runs the pods of these Deployments as soon as there are any."""

    def work() -> None:
        for name in names:
            while not world.has_deployment(name):
                time.sleep(0.05)
            world.server.make_ready(world.namespace, name)

    worker = threading.Thread(target=work)
    worker.start()
    yield
    worker.join()


def test_it_ends_when_every_takara_is_ready(world: World, commands: Commands) -> None:
    world.create(takara("one", 2), takara("two", 1), takara("none", 0))
    with kubelet(world, "one", "two", "none"):
        done = commands.json("once", "--wait", "30s")

    assert (done.code, done.report["error"]) == (0, None)
    assert {line["ready"] for line in done.report["takaras"]} == {"Ready"}
    assert {world.condition(name, "Ready")["status"] for name in ("one", "two", "none")} == {"True"}


def test_one_report_tells_what_all_its_passes_did(world: World, commands: Commands) -> None:
    """The Takara was created by this command, although by an earlier pass than the last one."""
    world.create(takara("one", 1))
    with kubelet(world, "one"):
        done = commands.json("once", "--wait", "30s")

    assert done.results == {"one": "created"}
    assert done.stdout.count("\n") == 1


def test_who_is_not_ready_in_time_is_named(simulated: Simulated) -> None:
    world = World(simulated, simulated.namespace())
    commands = Commands(simulated, world.namespace)
    world.create(takara("quick", 1), takara("slow", 1), takara("slower", 1))
    commands.converge()
    simulated.make_ready(world.namespace, "quick")

    begun = time.monotonic()
    done = commands.json("once", "--wait", "3s")

    assert done.code == 4
    message = done.report["error"]["message"]
    assert f"{world.namespace}/slow, {world.namespace}/slower" in message
    assert "quick" not in message
    assert message in done.log[-1]["message"]
    assert time.monotonic() - begun > 2.9  # the three seconds were given


@pytest.mark.parametrize(
    ("trouble", "code", "result"), [("blocked", 6, "blocked"), ("invalid", 6, "invalid"), ("rejected", 1, "failed")]
)
def test_it_ends_early_where_one_is_stalled(simulated: Simulated, trouble: str, code: int, result: str) -> None:
    world = World(simulated, simulated.namespace())
    commands = Commands(simulated, world.namespace)
    world.create(takara("slow", 1))
    if trouble == "blocked":
        blocked_by_a_deployment_of_nobody(world, commands)
    else:
        odd = {"template": template({"name": "c", "image": "i", "ports": "eighty"})} if trouble == "rejected" else {}
        world.create(takara("strange", 1 if trouble == "rejected" else 1001, **odd))

    begun = time.monotonic()
    done = commands.json("once", "--wait", "40s", *TEMPLATES)

    assert time.monotonic() - begun < 20
    assert (done.code, done.results["strange"]) == (code, result)
    assert (done.report["error"], done.line_of("slow")["ready"]) == (None, "Progressing")


def test_what_is_tolerated_is_not_waited_for_but_the_others_are(simulated: Simulated) -> None:
    world = World(simulated, simulated.namespace())
    world.create(takara("slow", 1), takara("big", 1001))

    done = Commands(simulated, world.namespace).json("once", "--wait", "1s", "--tolerate", "invalid")

    assert done.code == 4
    assert f": {world.namespace}/slow" in done.report["error"]["message"]


def test_a_paused_takara_as_it_should_be_is_ready(simulated: Simulated) -> None:
    world = World(simulated, simulated.namespace())
    commands = Commands(simulated, world.namespace)
    world.create(takara("one", 1))
    commands.converge()
    simulated.make_ready(world.namespace, "one")
    world.merge("one", PAUSE)

    assert commands.json("once", "--wait", "10s").code == 0


def test_a_signal_while_it_waits_ends_it_with_what_is_known(simulated: Simulated) -> None:
    """The report holds every Takara, although no pass was running."""
    world = World(simulated, simulated.namespace())
    commands = Commands(simulated, world.namespace)
    world.create(takara("slow", 1))
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        commands.args("once", "--wait", "60s"), env=commands.environment(), stdout=pipe, stderr=pipe, text=True
    )
    while "conditions" not in world.takara("slow").get("status", {}):  # the last thing that a pass does
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    stdout, _ = process.communicate(timeout=20)

    assert time.monotonic() - begun < 5
    report = json.loads(stdout)
    assert (process.returncode, report["exit"]) == (4, 4)
    assert [line["name"] for line in report["takaras"]] == ["slow"]
