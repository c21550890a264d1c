"""`plan` names who changed what and when, and with --server what the server itself says of the cure."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.commands.running import ON_THE_SIMULATOR, Commands
from tests.commands.scenarios import scaled_and_reimaged, scaled_by_kubectl
from tests.commands.staging import TEMPLATES, converged, left_by_the_go_operator, template
from tests.world import Json, World, takara

IMAGE = "spec.template.spec.containers[takara].image"


def stored(world: World) -> list[Any]:
    """All that a write of ours could have changed; what controllers do meanwhile is left out."""
    paths = (f"/apis/apps/v1/namespaces/{world.namespace}/deployments", world.takara_path("")[:-1])
    metadata = [one["metadata"] for path in paths for one in world.call("GET", path)["items"]]
    ours = [[entry for entry in each["managedFields"] if entry["manager"] == "takara-sync"] for each in metadata]
    return [(each["name"], each["generation"], each.get("labels")) for each in metadata] + ours


def test_two_managers_are_both_named_with_what_and_when(world: World, commands: Commands) -> None:
    converged(world, commands, takara("kept", 1))
    scaled_and_reimaged(world, commands)

    done = commands.reading("plan")

    line = done.line_of("one")
    scaled, image = sorted(line["changes"], key=lambda change: str(change["field"] == IMAGE))
    assert (scaled["field"], scaled["old"], scaled["new"], scaled["manager"]) == ("spec.replicas", 7, 3, "kubectl")
    assert scaled["subresource"] == "scale"
    assert (image["field"], image["old"], image["new"], image["manager"]) == (IMAGE, "nginx", "busybox", "kubectl-set")
    assert 0 <= line["ages"][line["changes"].index(image)] < 60
    assert len(line["ages"]) == 2
    assert (line["action"], line["rollout"], done.code) == ("apply", True, 1)
    shown = commands.run("plan").stdout.splitlines()
    assert shown[0] == f"~ {world.namespace}/one: apply  ROLLOUT: pods are replaced, REPLICAS: 7 -> 3"
    assert shown[1].startswith("    spec.replicas 7 -> 3 (set by kubectl, subresource scale")
    assert re.fullmatch(rf"    {re.escape(IMAGE)} nginx -> busybox \(set by kubectl-set, \S+Z\)", shown[2])
    assert shown[3] == "plan: 1 to apply, 1 unchanged"
    wide = commands.run("plan", "-o", "wide").stdout
    assert [f"{world.namespace}/kept: keep" in text for text in ("".join(shown), wide)] == [False, True]


@ON_THE_SIMULATOR
def test_a_dry_run_says_so_wherever_it_names_a_change(world: World, commands: Commands) -> None:
    """One Takara to create and one to repair. The exit code is 1, but nothing has failed."""
    scaled_by_kubectl(world, commands)
    world.create(takara("new", 1))

    dry = commands.reading("once", "--dry-run")

    assert (dry.code, [line["statusWritten"] for line in dry.report["takaras"]]) == (1, [False, False])
    changed = [line["message"] for line in dry.log if line.get("result") in ("created", "updated")]
    assert len(changed) == 2
    assert all("dry run" in message for message in [*changed, dry.log[-1]["message"]])
    assert dry.log[-1]["level"] != "error"
    assert "dry run" in commands.run("once", "--dry-run").stdout


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


# ------------------------------------------------------------------ the server's own verdict


def test_the_server_accepts_and_stores_nothing(world: World, commands: Commands) -> None:
    converged(world, commands, takara("grown", 1), takara("imaged", 1), takara("calm", 1))
    left_by_the_go_operator(world, "old")
    world.merge("grown", {"spec": {"size": 2}})
    world.kubectl("set", "image", "deployment/imaged", "takara=nginx")
    world.create(takara("new", 1))
    before = stored(world)

    done = commands.json("plan", "--server")

    assert stored(world) == before
    assert all(request.dry_run for request in done.writes)
    assert {request.name for request in done.writes} == {"grown", "imaged", "new", "old"}
    verdicts = {line["name"]: line["server"] for line in done.report["takaras"]}
    assert verdicts == {
        "calm": "",
        "grown": "accepted, no rollout",
        "imaged": "accepted, rollout",
        "new": "accepted",
        "old": "accepted, no rollout",
    }
    shown = commands.run("plan", "--server").stdout
    assert (
        f"~ {world.namespace}/grown: apply  no rollout, REPLICAS: 1 -> 2, server: accepted, no rollout"
        in shown.splitlines()
    )


def test_the_server_refuses_a_malformed_template_in_its_own_words(world: World, commands: Commands) -> None:
    malformed = template({"name": "main", "image": "nginx", "ports": "eighty"})
    world.create(takara("bad", 1, template=malformed), takara("good", 1))

    done = commands.json("plan", "--server", *TEMPLATES)

    verdict = done.line_of("bad")["server"]
    assert verdict.startswith("refused: ")
    assert "ports" in verdict
    assert (done.line_of("good")["server"], done.code) == ("accepted", 1)
    assert not world.has_deployment("good")
