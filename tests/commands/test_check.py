"""`check` says what is missing before a pass finds it out, and a Role in one namespace is enough for that namespace."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.commands.rights import RIGHTS, grant
from tests.commands.running import Commands
from tests.contract.simulated import Simulated
from tests.world import World, takara

if TYPE_CHECKING:
    from pathlib import Path


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


# ------------------------------------------------------------------ a Role in one namespace


def test_a_role_in_one_namespace_is_enough_there(real_world: World) -> None:
    user = real_world.server.user(admin=False)
    grant(real_world, user)
    commands = Commands(real_world.server, real_world.namespace, user)
    real_world.create(takara("one", 1))

    assert commands.json("check").code == 0
    assert commands.json("once").results == {"one": "created"}
    real_world.kubectl("scale", "deployment/one", "--replicas=4")
    assert commands.json("plan").code == 1
    done = commands.json("once")

    assert (done.code, real_world.deployment("one")["spec"]["replicas"]) == (0, 1)
    assert {request.namespace for request in done.requests} == {real_world.namespace}


def test_without_a_namespace_that_role_is_not_enough_and_each_right_is_named(real_world: World) -> None:
    user = real_world.server.user(admin=False)
    grant(real_world, user)

    done = Commands(real_world.server, user=user).json("check")

    assert done.code == 1
    assert missing(done.report) == [
        "may get takaras.maho.takara.org in all namespaces",
        "may list takaras.maho.takara.org in all namespaces",
        "may patch takaras/status.maho.takara.org in all namespaces",
        "may update takaras/finalizers.maho.takara.org in all namespaces",
        "may get deployments.apps in all namespaces",
        "may list deployments.apps in all namespaces",
        "may create deployments.apps in all namespaces",
        "may patch deployments.apps in all namespaces",
        "may list pods in all namespaces",
    ]


@pytest.mark.parametrize(
    ("group", "resource", "verb", "code"),
    [
        ("apps", "deployments", "list", 3),
        ("maho.takara.org", "takaras", "list", 3),
        ("", "pods", "list", 3),
        ("apps", "deployments", "create", 1),
        ("apps", "deployments", "patch", 1),
        ("maho.takara.org", "takaras/status", "patch", 1),
    ],
)
def test_a_missing_right_is_named(real_world: World, group: str, resource: str, verb: str, code: int) -> None:
    """By check in advance, and by the pass that meets it, with verb, resource and namespace."""
    user = real_world.server.user(admin=False)
    grant(real_world, user, [right for right in RIGHTS if right != (group, resource, verb)])
    commands = Commands(real_world.server, real_world.namespace, user)
    real_world.create(takara("one", 1))

    checked = commands.json("check")
    done = commands.json("once")

    qualified = f"{resource}.{group}" if group else resource
    assert missing(checked.report) == [f"may {verb} {qualified} in namespace {real_world.namespace}"]
    assert (checked.code, done.code) == (1, code)
    said = done.report["error"] if code == 3 else done.line_of("one")
    for word in (verb, resource, real_world.namespace):
        assert word in said["message"]
        assert word in done.stderr


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
