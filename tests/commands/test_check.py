"""`check` says what is missing before a pass finds it out. Missing rights: tests/manifests/test_rights.py."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import yaml

from takara_sync.cli.check import RIGHTS
from tests.commands.running import Commands
from tests.contract.simulated import Simulated
from tests.world import World


def missing(done_report: dict[str, list[dict[str, object]]]) -> list[object]:
    return [check["what"] for check in done_report["checks"] if not check["ok"]]


def test_an_admin_may_everything(world: World, commands: Commands) -> None:
    done = commands.json("check")

    assert (done.code, missing(done.report)) == (0, [])
    assert done.report["server"].startswith("v1.")
    assert len(done.report["checks"]) == len(RIGHTS) + 1
    shown = commands.run("check").stdout.splitlines()
    assert shown[0] == f"server: {done.report['server']}"
    assert f"ok       may list pods in namespace {world.namespace}" in shown


def test_checking_changes_nothing(commands: Commands) -> None:
    assert {request.resource for request in commands.json("check").writes} == {"selfsubjectaccessreviews"}


# ------------------------------------------------------------------ no API, no server


def test_a_server_without_the_crd(tmp_path: Path) -> None:
    with Simulated(tmp_path, crd=False) as server:
        done = Commands(server).json("check")

    assert done.code == 1
    (served,) = (check for check in done.report["checks"] if not check["ok"])
    assert served == {
        "what": "takaras.maho.takara.org/v1alpha1 is served",
        "ok": False,
        "detail": "install the CRD: kubectl apply -k k8s/crd",
    }


@pytest.mark.parametrize("command", ["check", "plan", "once"])
def test_a_server_that_cannot_be_reached(simulated: Simulated, tmp_path: Path, command: str) -> None:
    """3, one sentence with a hint, in every form: also stdout has something that a machine can read."""
    commands = Commands(simulated)
    config = yaml.safe_load(commands.user.kubeconfig.read_text())
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        config["clusters"][0]["cluster"]["server"] = f"http://127.0.0.1:{unused.getsockname()[1]}"
        path = tmp_path / "dead"
        path.write_text(yaml.safe_dump(config))

        done = commands.run(command, "--pass-timeout", "10s", KUBECONFIG=str(path))

    assert done.code == 3
    assert "connection refused" in done.log[-1]["message"]
    assert "Is the API server up" in done.log[-1]["message"]


def test_check_for_machines_has_a_document_also_where_the_server_is_away(simulated: Simulated) -> None:
    stranger = Commands(simulated, user=simulated.user(admin=False))
    config = yaml.safe_load(stranger.user.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": "no-such-token"}
    stranger.user.kubeconfig.write_text(yaml.safe_dump(config))

    done = stranger.json("check")

    assert done.code == 3
    assert "401" in done.report["error"]["message"]
