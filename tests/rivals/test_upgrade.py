"""The upgrade from 0.1.0 and the way back, on the real server: no pod restarts, and each end settles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.control_plane.server import ControlPlane
from tests.rivals.frozen import MANIFESTS, Frozen
from tests.support.takaras import takara
from tests.tool import Called, Tool
from tests.world import World

NEW_CRD = MANIFESTS.parents[2] / "k8s" / "crd" / "takara.yaml"
OLD_CRD = next(one for one in yaml.safe_load_all(MANIFESTS.read_text()) if one["kind"] == "CustomResourceDefinition")
FLEET = ("one", "two", "three")


def apply_crd(server: ControlPlane, text: str) -> None:
    server.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=text)
    server.kubectl("wait", "--for=condition=Established", "crd/takaras.maho.takara.org")


def kept(world: World) -> list[Any]:
    """What no upgrade may change: each Deployment with its template's generation, and each pod."""
    deployments = [world.deployment(name)["metadata"] for name in FLEET]
    return [[(each["uid"], each["generation"]) for each in deployments], [world.pods(name) for name in FLEET]]


class Story:
    """A fleet that 0.1.0 keeps, and both programs."""

    def __init__(self, server: ControlPlane) -> None:
        self.world = World(server, server.namespace())
        self.old, self.new = Frozen(server, self.world.namespace), Called(server, self.world.namespace)
        self.world.create(*(takara(name, number) for number, name in enumerate(FLEET)))
        self.settle(self.old)
        assert "fieldsHash" in self.world.status("two")["deployment"]

    def settle(self, program: Tool, *args: str) -> None:
        program.converge(*args)
        self.world.settle()
        program.converge(*args)
        program.settled(*args)

    def upgrade(self) -> None:
        """A loop of the old one still runs; then only the new one does."""
        before = kept(self.world)
        with self.old.started("--interval", "0.5") as loop:
            for _ in range(2):
                assert self.new.once().code == 0
            loop.terminate()
            loop.communicate(timeout=60)
        self.settle(self.new)
        assert kept(self.world) == before
        assert "fieldsHash" not in self.world.status("two")["deployment"]

    def resize(self, program: Tool, size: int) -> None:
        self.world.merge("one", {"spec": {"size": size}})
        self.settle(program)
        assert self.world.deployment("one")["spec"]["replicas"] == size

    def roll_back(self) -> None:
        pods = kept(self.world)[1]
        self.old.converge("--accept-newer-format")
        self.world.settle()
        self.old.converge()
        self.old.settled()
        assert kept(self.world)[1] == pods


@pytest.mark.first
def test_upgrade_and_rollback(fresh_control_plane: Callable[..., ControlPlane]) -> None:
    """The first time the CRD comes last; then everything goes back; the second time the CRD comes first."""
    server = fresh_control_plane(crd=False)
    apply_crd(server, yaml.safe_dump(OLD_CRD))
    story = Story(server)
    story.upgrade()
    story.resize(story.new, 3)
    apply_crd(server, NEW_CRD.read_text())
    story.new.settled()

    story.roll_back()
    apply_crd(server, yaml.safe_dump(OLD_CRD))
    story.resize(story.old, 1)

    apply_crd(server, NEW_CRD.read_text())
    story.upgrade()
