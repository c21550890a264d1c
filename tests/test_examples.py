"""The examples are run, and the fixture is what pytest finds by itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from examples import custom_deployment, second_kind
from takara_sync import Deadline, KubeCluster
from takara_sync.kube.api import Api
from takara_sync.pytest_plugin import TakaraCluster
from tests.control_plane.server import ControlPlane
from tests.world import World, takara

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_test_of_ones_own_code_passes_where_only_the_plugin_is_known(tmp_path: Path) -> None:
    test = tmp_path / "test_mine.py"
    test.write_text((EXAMPLES / "test_your_own_code.py").read_text())
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", str(test)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_another_deployment_is_made_and_left_alone_afterwards(takara_cluster: TakaraCluster) -> None:
    takara_cluster.create(takara("one", 2))
    cluster = KubeCluster.connect(kubeconfig=str(takara_cluster.kubeconfig))
    assert [o.result for o in custom_deployment.sync(cluster).takaras] == ["created"]
    takara_cluster.settle()

    made = takara_cluster.get("Deployment", "one")

    assert [container["name"] for container in made["spec"]["template"]["spec"]["containers"]] == ["takara", "logs"]
    assert made["spec"]["template"]["metadata"]["labels"] == {"app": "takara", "takara_cr": "one", "team": "default"}
    assert made["metadata"]["annotations"]["example.org/made-by"] == "custom_deployment"
    custom_deployment.sync(cluster)
    takara_cluster.simulator.store.requests.clear()
    assert [o.result for o in custom_deployment.sync(cluster).takaras] == ["unchanged"]
    assert [one.request.method for one in takara_cluster.simulator.store.requests] == ["GET", "GET", "GET"]


def test_a_second_kind_converges_on_a_real_server(control_plane: ControlPlane) -> None:
    """In the whole cluster, which holds Takaras of other tests too."""
    world = World(control_plane, control_plane.namespace())
    world.create(takara("one", 2), takara("two", 1))
    api = Api.connect(str(control_plane.user().kubeconfig))

    first, second = (second_kind.sync(api, Deadline(20)) for _ in range(2))

    assert {f"{world.namespace}/{name} applied" for name in ("one", "two")} <= set(first)
    assert not [line for line in second if world.namespace in line]
