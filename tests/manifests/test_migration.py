"""README, "Coming from the Go operator": its commands, run one by one on a cluster as that operator leaves it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.manifests.conftest import STRICT
from tests.manifests.install import ROOT, Installed
from tests.server import Server
from tests.tool import COMMAND
from tests.world import GO_OPERATOR, Json, World, as_the_go_operator, takara

SIZES = {"example-takara": 3, "takara-busybox": 10}


def blocks(section: str) -> list[list[str]]:
    """The commands of each code block of a section."""
    text = (ROOT / "README.md").read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    found = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [[line.split(" #")[0].strip() for line in block.splitlines()] for block in found]


class Admin:
    """Somebody in a clone, with a kubeconfig, kubectl and takara-sync."""

    def __init__(self, server: Server, assets: Path) -> None:
        path = f"{assets}:{os.path.dirname(COMMAND)}:{os.environ['PATH']}"  # noqa: PTH120 - a text, not a file
        self.environment = {"PATH": path, "HOME": str(server.folder), "KUBECONFIG": str(server.user().kubeconfig)}

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        shell = ["bash", "-o", "pipefail", "-c", command]
        return subprocess.run(shell, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)

    def done(self, command: str) -> str:
        finished = self.run(command)
        assert finished.returncode == 0, f"{command}: {finished.stdout}{finished.stderr}"
        return finished.stdout


def an_operator() -> Json:
    """The Go operator's own Deployment, which here never gets to run."""
    labels = {"name": GO_OPERATOR}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "operator", "image": "operator"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    return {"metadata": {"name": GO_OPERATOR}, "spec": spec}


@pytest.fixture
def world(fresh_control_plane: Callable[..., ControlPlane]) -> World:
    """Two Takaras of the Go operator with their pods running, and the operator."""
    server = fresh_control_plane(api_server_flags=STRICT)
    world = World(server, "default")
    world.post_deployment(an_operator())
    for name, size in SIZES.items():
        (owner,) = world.create(takara(name, size))
        world.post_deployment(as_the_go_operator(owner, size), GO_OPERATOR)
        server.make_ready("default", name)
        world.call("PATCH", f"{world.takara_path(name)}/status", {"status": {"nodes": world.pods(name)}},
                   content_type="application/merge-patch+json")  # fmt: skip
    return world


def seen(world: World) -> dict[str, Any]:
    """What a person would notice: sizes, pods, specs."""
    return {
        name: (world.takara(name)["spec"], world.pods(name), world.deployment(name)["spec"],
               world.deployment(name)["metadata"]["uid"], world.deployment(name)["metadata"]["generation"])
        for name in SIZES
    }  # fmt: skip


def test_there_and_back_as_the_readme_says(world: World, control_plane_assets: Path) -> None:
    admin = Admin(world.server, control_plane_assets)
    there, back = blocks("Coming from the Go operator")
    crd, plan, stop, once, plan_again, install = there
    before = seen(world)

    admin.done(crd)
    planned = admin.run(plan)
    assert planned.returncode == 1, planned.stdout + planned.stderr
    for name in SIZES:
        assert f"~ default/{name}: take over  no rollout\n" in planned.stdout
    assert seen(world) == before

    admin.done(stop)
    first = admin.done(once)
    assert first.count("taken over") >= len(SIZES), first
    admin.done(plan_again)
    assert seen(world) == before
    for name, size in SIZES.items():
        assert world.condition(name, "Ready")["status"] == "True"
        assert len(world.status(name)["nodes"]) == size

    admin.done(install)
    tool = Installed(world.server, "takara-system")
    wait_until(lambda: "" if tool.once().code == 0 else "no pass yet", within=SETTLE_SECONDS, every=0.2)
    tool.settled()
    assert seen(world) == before

    for command in back:
        admin.done(command)
    assert world.deployment(GO_OPERATOR)["spec"]["replicas"] == 1
    assert seen(world) == before
    cron = world.server.call("GET", "/apis/batch/v1/namespaces/takara-system/cronjobs/takara-sync")
    assert cron.status == 404
    the_operator_scales(world, "example-takara", 5)

    assert tool.converge().results["example-takara"] == "taken over"  # and there once more
    assert world.deployment("example-takara")["spec"]["replicas"] == 5
    tool.settled()


def the_operator_scales(world: World, name: str, size: int) -> None:
    """As the Go operator does it: reads the Deployment and writes it whole, with another number."""
    world.merge(name, {"spec": {"size": size}})
    live = world.deployment(name)
    live["spec"]["replicas"] = size
    path = f"/apis/apps/v1/namespaces/default/deployments/{name}?fieldManager={GO_OPERATOR}"
    world.call("PUT", path, live)
    world.settle()


# ------------------------------------------------------------------ going altogether

UNINSTALL = (
    "kubectl delete -k k8s/cronjob",
    "takara-sync manifests | kubectl delete -l app.kubernetes.io/name=takara-sync -f -",
)


def test_upgraded_it_goes_on_and_uninstalled_only_takaras_and_deployments_are_left(
    fresh_control_plane: Callable[..., ControlPlane], control_plane_assets: Path
) -> None:
    world = World(fresh_control_plane(), "default")
    admin = Admin(world.server, control_plane_assets)
    # The control plane came with a CRD: the older one takes its place.
    admin.done("kubectl apply --server-side --force-conflicts -f tests/manifests/older.yaml")
    world.create(takara("one", 2))
    tool = Installed(world.server, "takara-system")
    wait_until(lambda: "" if tool.once().code == 0 else "no pass yet", within=SETTLE_SECONDS, every=0.2)
    world.settle()
    before = (world.takara("one")["metadata"]["uid"], world.deployment("one")["metadata"]["uid"], world.pods("one"))

    admin.done(blocks("Install")[0][2])

    tool.converge()
    tool.settled()
    one, other = (set(admin.done(f"{command} --dry-run=client").splitlines()) for command in UNINSTALL)
    assert one == other  # so it is enough to go one way
    assert "customresourcedefinition" not in str(one)

    admin.done(f"{UNINSTALL[0]} --wait=false")

    kinds = "clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings"
    left = admin.done(f"kubectl get {kinds} -o name -l app.kubernetes.io/name=takara-sync")
    assert left == ""
    assert "Terminating" in admin.done("kubectl get namespace takara-system")
    after = (world.takara("one")["metadata"]["uid"], world.deployment("one")["metadata"]["uid"], world.pods("one"))
    assert after == before
    assert all(command in (ROOT / "README.md").read_text() for command in UNINSTALL)
