"""The default pod from a mirror: the admission policy of the install follows, and admits no other image."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.control_plane.server import ControlPlane
from tests.manifests.install import Installed
from tests.world import World, takara

IMAGE = "mirror.invalid:5000/busybox:1.36"


@pytest.mark.parametrize("policy", [(), ("--pod-pull-policy=Always",)])
def test_the_mirrors_image_is_admitted_and_busybox_is_not(
    installed_with: Callable[..., ControlPlane], policy: tuple[str, ...]
) -> None:
    server = installed_with(f"--pod-image={IMAGE}", *policy)
    world = World(server, "default")
    tool = Installed(server, "takara-system")
    world.create(takara("one", 1))
    assert tool.once().results == {"one": "failed"}
    assert tool.once(f"--pod-image={IMAGE}", *policy).results == {"one": "created"}
    (container,) = world.deployment("one")["spec"]["template"]["spec"]["containers"]
    assert (container["image"], container["imagePullPolicy"]) == (IMAGE, "Always" if policy else "IfNotPresent")
    assert tool.json("check", f"--pod-image={IMAGE}", *policy).code == 0
    assert tool.json("check").code == 1
