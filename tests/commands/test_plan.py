"""`plan` names who changed what and when, and with --server what the server itself says of the cure."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.commands.running import ON_THE_SIMULATOR, Commands
from tests.commands.scenarios import scaled_and_reimaged
from tests.commands.staging import TEMPLATES, converged, left_by_the_go_operator, template
from tests.control_plane.build import assets
from tests.tool import COMMAND
from tests.world import Json, World, takara

IMAGE = "spec.template.spec.containers[takara].image"


def stored(world: World) -> list[Any]:
    """All that a write of ours could have changed; what controllers do meanwhile is left out."""
    paths = (f"/apis/apps/v1/namespaces/{world.namespace}/deployments", world.takara_path("")[:-1])
    metadata = [one["metadata"] for path in paths for one in world.call("GET", path)["items"]]
    ours = [[entry for entry in each["managedFields"] if entry["manager"] == "takara-sync"] for each in metadata]
    return [(each["name"], each["generation"], each.get("labels")) for each in metadata] + ours


def test_two_managers_are_both_named_with_what_and_when(world: World, commands: Commands) -> None:
    scaled_and_reimaged(world, commands)

    done = commands.reading("plan")

    line = done.line_of("one")
    scaled, image = sorted(line["changes"], key=lambda change: str(change["field"] == IMAGE))
    assert (scaled["field"], scaled["old"], scaled["new"], scaled["manager"]) == ("spec.replicas", 7, 3, "kubectl")
    assert scaled["subresource"] == "scale"
    assert (image["field"], image["old"], image["new"], image["manager"]) == (IMAGE, "nginx", "busybox", "kubectl-set")
    age = line["ages"][line["changes"].index(image)]
    assert 0 <= age < 60
    assert len(line["ages"]) == 2
    assert (line["action"], line["rollout"], done.code) == ("apply", True, 1)


def test_the_text_says_the_same(world: World, commands: Commands) -> None:
    scaled_and_reimaged(world, commands)

    shown = commands.run("plan").stdout.splitlines()

    assert shown[0] == f"~ {world.namespace}/one: apply  rollout"
    assert shown[1].startswith("    spec.replicas 7 -> 3 (set by kubectl, subresource scale")
    assert re.fullmatch(rf"    {re.escape(IMAGE)} nginx -> busybox \(set by kubectl-set, \d+s ago\)", shown[2])
    assert shown[3] == "plan: 1 to apply, 0 unchanged"


@ON_THE_SIMULATOR
@pytest.mark.parametrize(
    ("new", "flags", "code"),
    [
        ([], [], 0),
        ([takara("one")], [], 1),
        ([takara("big", 1001)], [], 6),
        ([takara("big", 1001)], ["--tolerate", "blocked,invalid"], 0),
        ([takara("one")], ["--max-changes", "0"], 5),
        ([], [], 3),
    ],
    ids=["nothing", "create", "invalid", "tolerated", "too many", "unreadable"],
)
def test_the_exit_codes(world: World, commands: Commands, new: list[Json], flags: list[str], code: int) -> None:
    world.create(*new)
    if code == 3:
        commands = Commands(world.server, world.namespace, user=world.server.user(admin=False))

    done = commands.json("plan", *flags)

    assert (done.code, done.report["error"] is not None) == (code, code in (3, 5))
    if code in (3, 5):
        assert done.report["error"]["message"] in commands.run("plan", *flags).stdout


def test_wide_shows_also_what_stays(world: World, commands: Commands) -> None:
    converged(world, commands, takara("one", 1), takara("two", 1))
    world.merge("two", {"spec": {"size": 2}})

    assert f"{world.namespace}/one" not in commands.run("plan").stdout
    assert f"  {world.namespace}/one: keep" in commands.run("plan", "-o", "wide").stdout.splitlines()


def test_kubectl_takara_plan(world: World, commands: Commands) -> None:
    """kubectl runs what is called kubectl-takara on the path."""
    world.create(takara("one", 1))
    found = assets()
    if found is None:
        pytest.skip("there is no kubectl")

    environment = commands.environment() | {"PATH": str(Path(COMMAND).parent)}
    command = [str(found / "kubectl"), "takara", "plan", "-n", world.namespace]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)

    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "plan: 1 to create, 0 unchanged")


# ------------------------------------------------------------------ the server's own verdict


def test_the_server_accepts_and_stores_nothing(world: World, commands: Commands) -> None:
    converged(world, commands, takara("grown", 1), takara("imaged", 1), takara("calm", 1))
    world.merge("grown", {"spec": {"size": 2}})
    world.kubectl("set", "image", "deployment/imaged", "takara=nginx")
    world.create(takara("new", 1))
    before = stored(world)

    done = commands.json("plan", "--server")

    assert stored(world) == before
    assert all(request.dry_run for request in done.writes)
    assert {request.name for request in done.writes} == {"grown", "imaged", "new"}
    verdicts = {line["name"]: line["server"] for line in done.report["takaras"]}
    assert verdicts == {
        "calm": "",
        "grown": "accepted, no rollout",
        "imaged": "accepted, rollout",
        "new": "accepted",
    }
    shown = commands.run("plan", "--server").stdout
    assert f"~ {world.namespace}/grown: apply  no rollout, server: accepted, no rollout" in shown.splitlines()


def test_the_server_refuses_a_malformed_template_in_its_own_words(world: World, commands: Commands) -> None:
    malformed = template({"name": "main", "image": "nginx", "ports": "eighty"})
    world.create(takara("bad", 1, template=malformed), takara("good", 1))

    done = commands.json("plan", "--server", *TEMPLATES)

    verdict = done.line_of("bad")["server"]
    assert verdict.startswith("refused: ")
    assert "ports" in verdict
    assert (done.line_of("good")["server"], done.code) == ("accepted", 1)
    assert not world.has_deployment("good")


def test_a_take_over_is_judged_too(world: World, commands: Commands) -> None:
    left_by_the_go_operator(world, "old")
    before = stored(world)

    done = commands.json("plan", "--server")

    line = done.line_of("old")
    assert (line["action"], line["server"], line["rollout"]) == ("take over", "accepted, no rollout", False)
    assert stored(world) == before
