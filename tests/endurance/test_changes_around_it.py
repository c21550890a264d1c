"""A running loop lives through what is changed around it, and goes on with its work."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import wait_until
from tests.server import User
from tests.support.takaras import takara
from tests.tool import COMMAND
from tests.world import World

WITHIN = 60.0  # seconds; a pass or two


class Running:
    """`takara-sync --interval` against a control plane of its own, with credentials in files."""

    def __init__(self, server: ControlPlane, folder: Path) -> None:
        self.server = server
        self.world = World(server, server.namespace())
        self.user: User = server.user()
        self.kubeconfig, self.token, self.log = folder / "kubeconfig", folder / "token", folder / "log"
        self.size = 0
        self.world.create(takara("one", 0))
        self.token.write_text(self.user.token)
        self.lead_to(server.url)

    def lead_to(self, url: str) -> None:
        """(Re)writes the kubeconfig."""
        cluster = {"server": url, "certificate-authority": str(self.server.folder / "ca.crt")}
        config = {
            "current-context": "here",
            "clusters": [{"name": "tests", "cluster": cluster}],
            "users": [{"name": "tests", "user": {"tokenFile": str(self.token)}}],
            "contexts": [{"name": "here", "context": {"cluster": "tests", "user": "tests"}}],
        }
        self.kubeconfig.write_text(yaml.safe_dump(config))

    def works(self) -> None:
        """What is asked for now is done soon, by a process that has not ended."""
        self.size += 1
        self.world.merge("one", {"spec": {"size": self.size}})
        wait_until(self._not_yet, within=WITHIN)

    def _not_yet(self) -> str:
        if self.process.poll() is not None:
            return f"it has ended with {self.process.returncode}: {self.log.read_text()[-2000:]}"
        there = self.world.has_deployment("one")
        is_there = there and self.world.deployment("one")["spec"]["replicas"] == self.size
        return "" if is_there else f"the size is not {self.size} yet: {self.log.read_text()[-2000:]}"

    def start(self) -> subprocess.Popen[bytes]:
        args = [COMMAND, "--interval", "0.2", "--request-timeout", "2s", "--kubeconfig", str(self.kubeconfig)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=log, env={"HOME": str(self.log)})
        return self.process


@pytest.fixture
def running(fresh_control_plane: Callable[..., ControlPlane], tmp_path: Path) -> Iterator[Running]:
    running = Running(fresh_control_plane(controller_manager=False), tmp_path)
    with running.start() as process:
        yield running
        process.kill()


def test_a_server_a_token_an_authority_and_a_kubeconfig_may_change_under_it(
    running: Running, count: Callable[[str, int], None]
) -> None:
    """Each restart of the server comes with two of them, so that the loop lives through a new server as well."""
    running.works()
    server = running.server
    first, second, third = running.user, server.user(), server.user()

    running.token.write_text(second.token + "\n")
    server.restart(forget=[first], new_authority=True)
    running.works()

    running.token.write_text(third.token)
    running.lead_to(server.url.replace("127.0.0.1", "localhost"))
    server.restart(forget=[second])
    running.works()

    running.process.terminate()
    assert running.process.wait(timeout=20) in (0, 4)
    said = running.log.read_text()
    assert "https://localhost:" in said  # the last kubeconfig is the one in use
    assert "Traceback" not in said
    assert not any(user.token in said for user in (first, second, third))
    count("changes around a running loop survived", 4)
