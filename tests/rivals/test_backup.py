"""A backup tool brings Takaras and Deployments back without owners, and etcd brings back the past."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from takara_sync.report import Result
from tests.commands.running import Commands
from tests.control_plane.server import ControlPlane
from tests.rivals.backup import export, restore
from tests.rivals.passes import Passes, of_deployments
from tests.support.takaras import takara
from tests.world import Json, World

FLEET = 50


def uids(objects: list[Json]) -> dict[str, str]:
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in objects}


@pytest.fixture(scope="module")
def backup(control_plane: ControlPlane) -> dict[str, list[Json]]:
    """Of 50 Takaras that have converged, sizes 0 to 2."""
    world = World(control_plane, control_plane.namespace())
    world.create(*(takara(f"t{number:02}", number % 3) for number in range(FLEET)))
    Passes(world).settle()
    found = export(world)
    assert (len(found["Takara"]), len(found["Deployment"])) == (FLEET, FLEET)
    return found


@pytest.mark.parametrize("managed_fields", [False, True], ids=["without managedFields", "with managedFields"])
def test_restored_takaras_go_on_without_a_rollout(
    control_plane: ControlPlane, backup: dict[str, list[Json]], *, managed_fields: bool
) -> None:
    """A pass in the middle of the restore included. Of the restored pods and ReplicaSets, each one stays."""
    world = World(control_plane, control_plane.namespace())
    commands = Commands(control_plane, world.namespace)
    for kind in restore(world, backup, managed_fields=managed_fields):
        early = commands.once()
        assert early.code == (6 if kind == "Takara" else 0)
    world.settle()
    before = export(world)
    assert set(uids(before["Pod"])) == set(uids(backup["Pod"]))

    assert commands.json("adopt", "--restored", f"--yes={FLEET - 1}").code == 2
    adopted = commands.json("adopt", "--restored", f"--yes={FLEET}")
    assert adopted.code == 0
    assert {
        (line["action"], line["next"]["rollout"], line["next"]["why"]) for line in adopted.report["deployments"]
    } == {("adopted", False, "no value changes")}

    taken = commands.converge()
    assert len([request for request in taken.writes if request.resource == "deployments"]) == FLEET
    commands.settled()
    after = export(world)
    for kind in ("Pod", "ReplicaSet", "Deployment"):
        assert uids(after[kind]) == uids(before[kind])
    generations = [[one["metadata"]["generation"] for one in each["Deployment"]] for each in (before, after)]
    assert generations[0] == generations[1]


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
