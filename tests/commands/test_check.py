"""`check` says what is missing before a pass finds it out. Missing rights: manifests/test_rights.py; no API:
main_job/test_first_run.py; no server: main_job/test_failures.py."""

from __future__ import annotations

from takara_sync.cli.check import RIGHTS
from takara_sync.objects import PAUSED_ANNOTATION
from tests.commands.running import ON_THE_SIMULATOR, Commands
from tests.commands.scenarios import paused
from tests.world import World, takara

PAUSES = {"yes": "YES", "no": "Off", "odd": "soon"}


def test_an_admin_may_everything_and_checking_changes_nothing(world: World, commands: Commands) -> None:
    done = commands.json("check")

    assert (done.code, [check for check in done.report["checks"] if not check["ok"]]) == (0, [])
    assert done.report["server"].startswith("v1.")
    assert len(done.report["checks"]) == len(RIGHTS) + 1
    assert {request.resource for request in done.writes} == {"selfsubjectaccessreviews"}
    shown = commands.run("check").stdout.splitlines()
    assert shown[0] == f"server: {done.report['server']}"
    assert f"ok       may list pods in namespace {world.namespace}" in shown


@ON_THE_SIMULATOR
def test_a_namespace_that_does_not_exist_has_no_rights_that_are_ok(commands: Commands) -> None:
    done = commands.json("check", "-n", "no-such-place")

    wrong = [check for check in done.report["checks"] if not check["ok"]]
    assert (done.code, [check["what"] for check in wrong]) == (1, ["namespace no-such-place"])
    assert not any("no-such-place" in check["what"] for check in done.report["checks"] if check["ok"])
    assert len(done.report["checks"]) == len(RIGHTS) + 2


@ON_THE_SIMULATOR
def test_a_pause_that_is_neither_true_nor_false_is_found(world: World, commands: Commands) -> None:
    """It pauses; plan, report, log and status say the same words."""
    annotations = {name: {"metadata": {"annotations": {PAUSED_ANNOTATION: word}}} for name, word in PAUSES.items()}
    world.create(*(takara(name, 1) | {"metadata": {"name": name} | annotations[name]["metadata"]} for name in PAUSES))

    done = commands.json("once")

    words = f'The annotation {PAUSED_ANNOTATION} is "soon", which counts as paused. Set it to "true", or remove it.'
    assert done.results == {"yes": "skipped", "no": "created", "odd": "skipped"}
    assert done.line_of("odd")["message"] == words
    assert [line["level"] for line in done.log if words in line["message"]] == ["warning"]
    assert words in world.condition("odd", "Ready")["message"]
    assert words in commands.run("plan").stdout
    assert not [line for line in commands.json("once").log if words in line["message"]]  # it is no news
    (wrong,) = (check for check in commands.json("check").report["checks"] if not check["ok"])
    assert (wrong["what"], wrong["detail"]) == (f"a clear {PAUSED_ANNOTATION} on {world.namespace}/odd", words)


@ON_THE_SIMULATOR
def test_plan_counts_a_paused_takara_as_a_pass_does(world: World, commands: Commands) -> None:
    paused(world, commands)
    assert "2 skipped" in commands.run("plan").stdout
    assert "2 skipped" in commands.run("once").stdout
