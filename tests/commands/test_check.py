"""`check` says what is missing before a pass finds it out. Missing rights: manifests/test_rights.py; no API:
main_job/test_first_run.py; no server: main_job/test_failures.py."""

from __future__ import annotations

from takara_sync.cli.check import RIGHTS
from tests.commands.running import Commands
from tests.world import World


def test_an_admin_may_everything_and_checking_changes_nothing(world: World, commands: Commands) -> None:
    done = commands.json("check")

    assert (done.code, [check for check in done.report["checks"] if not check["ok"]]) == (0, [])
    assert done.report["server"].startswith("v1.")
    assert len(done.report["checks"]) == len(RIGHTS) + 1
    assert {request.resource for request in done.writes} == {"selfsubjectaccessreviews"}
    shown = commands.run("check").stdout.splitlines()
    assert shown[0] == f"server: {done.report['server']}"
    assert f"ok       may list pods in namespace {world.namespace}" in shown
