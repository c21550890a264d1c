"""Eight copies of the installed command at once, on a fleet that has drifted in every way."""

from __future__ import annotations

import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.rivals.history import History
from tests.rivals.others import set_image, take
from tests.rivals.passes import Passes, of_deployments
from tests.support.takaras import takara
from tests.tool import Tool
from tests.world import GO_OPERATOR, World, as_the_go_operator

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.world import Json

COPIES, FLEET = 8, 200
SIZE, DRIFTED = 1, 2
KINDS = ("new", "scaled", "reimaged", "legacy", "untold")


class Fleet:
    """Takaras of five kinds of drift."""

    def __init__(self, world: World, tool: Tool, many: int) -> None:
        self.world = world
        self.names = [f"{KINDS[number % len(KINDS)]}-{number:03}" for number in range(many)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(self._make, self._of("scaled", "reimaged", "untold")))
            tool.converge()
            world.settle()
            tool.converge()
            list(pool.map(self._drift, self.names))

    def _of(self, *kinds: str) -> list[str]:
        return [name for name in self.names if name.split("-")[0] in kinds]

    def _make(self, name: str) -> Json:
        (made,) = self.world.create(takara(name, SIZE))
        return made

    def _drift(self, name: str) -> None:
        kind = name.split("-", maxsplit=1)[0]
        if kind == "new":
            self._make(name)
        elif kind == "scaled":
            take(self.world, DRIFTED, "kubectl", name=name)
        elif kind == "reimaged":
            set_image(self.world, "nginx", name=name)
        elif kind == "legacy":
            self.world.post_deployment(as_the_go_operator(self._make(name), DRIFTED), GO_OPERATOR)
        else:
            wipe = {"status": {"deployment": None, "conditions": None, "nodes": ["gone"]}}
            path = f"{self.world.takara_path(name)}/status"
            self.world.call("PATCH", path, wipe, content_type="application/merge-patch+json")

    def generations(self) -> dict[str, int]:
        items = self._deployments()
        return {one["metadata"]["name"]: one["metadata"]["generation"] for one in items}

    def _deployments(self) -> list[Json]:
        path = f"/apis/apps/v1/namespaces/{self.world.namespace}/deployments"
        found: list[Json] = self.world.call("GET", path)["items"]
        return found

    def check_right(self) -> None:
        """Every Deployment is as asked for, and every status says so."""
        for one in self._deployments():
            (container,) = one["spec"]["template"]["spec"]["containers"]
            assert (one["spec"]["replicas"], container["image"]) == (SIZE, "busybox"), one["metadata"]["name"]
            assert one["metadata"]["labels"]["app"] == "takara"
        path = f"/apis/maho.takara.org/v1alpha1/namespaces/{self.world.namespace}/takaras"
        told = {one["metadata"]["name"]: one["status"] for one in self.world.call("GET", path)["items"]}
        assert sorted(told) == sorted(self.names)
        for name, status in told.items():
            assert status["observedGeneration"] == 1, name
            assert status["deployment"]["format"] == 1, name
            assert {one["reason"] for one in status["conditions"]} <= {"Ready", "Progressing", "NotStalled"}, name


def run_at_once(tools: list[Tool]) -> list[tuple[int, str, str]]:
    """Each its `once`, all started before any is waited for: code, report and log of each."""
    started = [
        subprocess.Popen(
            tool.args("once", "--pass-timeout", "5m", "--request-timeout", "1m"),  # the time is not what this is about
            env=tool.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for tool in tools
    ]
    with ThreadPoolExecutor(len(started)) as pool:
        outputs = list(pool.map(lambda process: process.communicate(timeout=300), started))
    return [(process.returncode, *output) for process, output in zip(started, outputs, strict=True)]


# By how much the generation moves: what drifted comes back in one change; a create is its first.
MOVES = {"new": 1, "scaled": 1, "reimaged": 1, "legacy": 1, "untold": 0}


def check_eight_copies(world: World, tool: Tool, many: int) -> int:
    """How many of the writes that were tried hit what another copy had changed already."""
    fleet = Fleet(world, tool, many)
    before, history = fleet.generations(), History(world)
    copies = [Tool(world.server, world.namespace) for _ in range(COPIES)]

    for code, report, log in run_at_once(copies):
        assert code == 0, (report, log)
        assert not [one for one in json.loads(report)["takaras"] if one["result"] == "failed"]
        assert "Traceback" not in log

    after = fleet.generations()
    moved = {name: after[name] - before.get(name, 0) for name in fleet.names}
    assert moved == {name: MOVES[name.split("-")[0]] for name in fleet.names}
    for name in fleet.names:
        assert history.sizes(name) in ([], [SIZE], [DRIFTED, SIZE]), name
        assert history.images(name) in ([], ["busybox"], ["nginx", "busybox"]), name
    fleet.check_right()
    written = [request for copy in copies for request in world.server.requests(copy.user) if request.writes]
    return sum(request.code in (409, 422) for request in written)


@pytest.mark.timeout(400)
def test_eight_copies_at_once(real_world: World, long: bool, count: Callable[[str, int], None]) -> None:
    many, tool = (FLEET if long else 20), Tool(real_world.server, real_world.namespace)
    conflicts = check_eight_copies(real_world, tool, many)
    count("Takaras that eight copies put right at once", many)
    count("writes of eight copies that another one had made", conflicts)

    ninth = tool.converge()  # the controllers may have gone on, of which its status writes tell
    assert [request.uri for request in ninth.writes if request.resource == "deployments"] == []
    come_to_rest(real_world)
    tool.settled()


def come_to_rest(world: World) -> None:
    """Passes until the controllers have nothing new to be told of; rollouts without a node stand still unfinished."""
    passes = Passes(world)
    for _ in range(60):
        time.sleep(0.2)
        writes = passes.sync()
        assert of_deployments(writes) == []
        if not writes:
            return
    raise AssertionError("there is always something new to be told")
