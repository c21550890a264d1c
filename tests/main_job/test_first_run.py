"""README, "Run it": from a server without the Takara API to the two samples, in the whole cluster, with the command."""

from __future__ import annotations

from collections.abc import Callable

from takara_sync.kube.cluster import INSTALL_CRD
from tests.commands.running import Commands
from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.main_job.fleet import containers
from tests.tool import Tool
from tests.world import World

SIZES = {"example-takara": 3, "takara-busybox": 10}


def test_the_two_samples_converge_in_the_whole_cluster(fresh_control_plane: Callable[..., ControlPlane]) -> None:
    world = World(fresh_control_plane(crd=False), "default")
    tool = Tool(world.server)
    without = tool.once()
    assert (without.code, without.report["error"]["hint"]) == (3, INSTALL_CRD)
    checked = Commands(world.server).json("check")
    (missing,) = (check for check in checked.report["checks"] if not check["ok"])
    assert (checked.code, missing) == (
        1,
        {
            "what": "takaras.maho.takara.org/v1alpha1 is served",
            "ok": False,
            "detail": INSTALL_CRD,
        },
    )
    world.kubectl("apply", "-k", "k8s/crd")
    wait_until(lambda: "" if tool.once().code == 0 else "the API is not served yet", within=SETTLE_SECONDS)
    world.kubectl("apply", "-k", "k8s/examples")

    assert tool.converge().results == dict.fromkeys(SIZES, "created")

    for name, size in SIZES.items():
        made = world.deployment(name)
        labels = {"app": "takara", "takara_cr": name}
        (container,) = containers(made)
        assert made["spec"]["replicas"] == size
        assert made["spec"]["selector"] == {"matchLabels": labels}
        assert made["metadata"]["labels"] == made["spec"]["template"]["metadata"]["labels"] == labels
        assert (container["name"], container["image"]) == ("takara", "busybox")
        assert container["command"] == ["sleep", "3600"]
        (owner,) = made["metadata"]["ownerReferences"]
        uid = world.takara(name)["metadata"]["uid"]
        assert (owner["kind"], owner["name"], owner["controller"], owner["uid"]) == ("Takara", name, True, uid)
    world.settle()
    tool.converge()
    for name, size in SIZES.items():
        assert world.status(name)["nodes"] == world.pods(name)
        assert len(world.pods(name)) == size
    tool.settled()
