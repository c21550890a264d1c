"""A backup tool brings Takaras and Deployments back without owners, and etcd brings back the past."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from takara_sync import Policy
from takara_sync.report import Result
from tests.commands.running import DOCS, Commands
from tests.contract.simulated import Simulated
from tests.control_plane.server import ControlPlane
from tests.rivals.backup import export, restore
from tests.rivals.passes import Passes, of_deployments
from tests.support.takaras import takara
from tests.world import Json, World

FLEET = 50
BLOCKS = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def uids(objects: list[Json]) -> dict[str, str]:
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in objects}


def part_of(backup: dict[str, list[Json]], fleet: int) -> dict[str, list[Json]]:
    """The first so many Takaras, with all that belongs to them."""
    names = sorted(uids(backup["Takara"]))[:fleet]
    return {
        kind: [one for one in objects if one["metadata"]["name"].partition("-")[0] in names]
        for kind, objects in backup.items()
    }


@pytest.fixture(scope="module")
def backup(control_plane: ControlPlane) -> dict[str, list[Json]]:
    """Of 50 Takaras that have converged, sizes 0 to 2."""
    world = World(control_plane, control_plane.namespace())
    world.create(*(takara(f"t{number:02}", number % 3) for number in range(FLEET)))
    Passes(world).settle()
    found = export(world)
    assert (len(found["Takara"]), len(found["Deployment"])) == (FLEET, FLEET)
    return found


@pytest.mark.parametrize(("fleet", "managed_fields"), [(FLEET, False), (10, True)])
def test_restored_takaras_go_on_without_a_rollout(
    control_plane: ControlPlane, backup: dict[str, list[Json]], fleet: int, *, managed_fields: bool
) -> None:
    """A pass in the middle of the restore included. Of the restored pods and ReplicaSets, each one stays."""
    world = World(control_plane, control_plane.namespace())
    commands = Commands(control_plane, world.namespace)
    chosen = part_of(backup, fleet)
    for kind in restore(world, chosen, managed_fields=managed_fields):
        assert commands.once().code == (6 if kind == "Takara" else 0)
    world.settle()
    before = export(world)
    assert set(uids(before["Pod"])) == set(uids(chosen["Pod"]))

    assert commands.json("adopt", "--restored", f"--yes={fleet - 1}").code == 2
    adopted = commands.json("adopt", "--restored", f"--yes={fleet}")
    said = {(line["action"], line["next"]["rollout"], line["next"]["why"]) for line in adopted.report["deployments"]}
    assert (adopted.code, said) == (0, {("adopted", False, "no value changes")})

    taken = commands.converge()
    assert len([request for request in taken.writes if request.resource == "deployments"]) == fleet
    commands.settled()
    after = export(world)
    for kind in ("Pod", "ReplicaSet", "Deployment"):
        assert uids(after[kind]) == uids(before[kind])
    generations = [[one["metadata"]["generation"] for one in each["Deployment"]] for each in (before, after)]
    assert generations[0] == generations[1]


@pytest.mark.first
def test_an_older_etcd_brings_no_older_size_back(fresh_control_plane: Callable[..., ControlPlane]) -> None:
    """A pass that began before the restore goes on after it, and meets a newer size that another pass wrote."""
    server = fresh_control_plane()
    world = World(server, server.namespace())
    early, passes = Passes(world), Passes(world)
    world.create(*(takara(name, 1) for name in ("one", "two", "kept")))
    passes.settle()
    snapshot = server.snapshot()
    world.merge("two", {"spec": {"size": 2}})
    world.create(takara("lost", 1))
    passes.settle()
    world.merge("one", {"spec": {"size": 3}})
    is_about_to_write, goes_on = Event(), Event()

    def wait() -> None:
        is_about_to_write.set()
        assert goes_on.wait(60)

    with ThreadPoolExecutor(1) as pool:  # the parts of the control plane would end with the thread that starts them
        late = pool.submit(early.held_up, 2, wait)
        assert is_about_to_write.wait(60)
        server.restore(snapshot)
        assert [world.takara(name)["spec"]["size"] for name in ("one", "two")] == [1, 1]
        world.merge("one", {"spec": {"size": 5}})
        passes.sync()
        goes_on.set()
        report = late.result()

    assert of_deployments(early.writes) == []
    assert {str(each.key): each.result for each in report.outcomes}[f"{world.namespace}/one"] == Result.UNCHANGED
    assert world.deployment("one")["spec"]["replicas"] == 5
    world.settle()
    passes.sync()
    world.settle()
    assert passes.sync() == []
    assert [world.deployment(name)["spec"]["replicas"] for name in ("one", "two", "kept")] == [5, 1, 1]
    assert not world.has_deployment("lost")


# ------------------------------------------------------------------ docs/backup.md


NOT_RUN = {
    "velero": "there is no Velero here; tests/rivals/backup.py does what it does",
    "etcdutl": "it is no part of the test control plane; `ControlPlane.restore` puts the data back instead",
}
"""The programs whose commands are not run, and why."""


def test_the_commands_of_the_document_work(simulated: Simulated) -> None:
    """In their order; each of ours finds the number of Deployments that it expects, or has nothing left to do."""
    world = World(simulated, simulated.namespace())
    commands = Commands(simulated, world.namespace)
    world.create(takara("one", 1), takara("two", 1))
    Passes(world).settle()
    backup = export(world)
    world = World(simulated, simulated.namespace())
    commands = Commands(simulated)
    values = {"NAMESPACE": world.namespace, "COUNT": "0", "NAME": "one", "MANAGER": "velero-server"}
    for _ in restore(world, backup, managed_fields=False):
        pass
    ran = 0
    for line in re.findall(r"^(?!```)\S.*$", "".join(BLOCKS.findall((DOCS / "backup.md").read_text())), re.MULTILINE):
        program, *args = shlex.split(line, comments=True)
        if program not in NOT_RUN:
            assert program == "takara-sync", line
            words = [re.sub("[A-Z]+", lambda match: values.get(match[0], match[0]), word) for word in args]
            first = words == ["adopt", "--restored"]
            done = commands.run(*words, *(["--yes=2"] if first else []))
            assert done.code == 0, (line, done.stdout, done.stderr)
            ran += 1
    assert ran == 7


@pytest.mark.parametrize("option", [(), ("--legacy-manager", "velero-server")])
def test_what_a_tool_owns_goes_if_its_fields_are_taken_over(arena: World, option: tuple[str, ...]) -> None:
    container = {"name": "web", "image": "nginx", "env": [{"name": "A", "value": "1"}]}
    arena.create(takara("one", 1, template={"spec": {"containers": [container]}}))
    Passes(arena, Policy(allow_templates=True)).settle()
    world = World(arena.server, arena.server.namespace())
    for _ in restore(world, export(arena), managed_fields=False):
        pass
    commands = Commands(world.server, world.namespace)
    assert commands.json("adopt", "one", "--yes", "--allow-templates").code == 0
    assert commands.once("--allow-templates", *option).code == 0

    without = {key: value for key, value in container.items() if key != "env"}
    world.merge("one", {"spec": {"template": {"spec": {"containers": [without]}}}})

    assert commands.once("--allow-templates").code == 0
    (live,) = world.deployment("one")["spec"]["template"]["spec"]["containers"]
    assert ("env" in live) is not bool(option)
