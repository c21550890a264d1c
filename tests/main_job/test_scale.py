"""Many Takaras and several pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from takara_sync.kube.cluster import PAGE
from tests.control_plane.server import ControlPlane
from tests.support.takaras import takara
from tests.tool import Called
from tests.world import World


def test_more_than_a_page_of_takaras_converge_in_one_pass(fresh_control_plane: Callable[..., ControlPlane]) -> None:
    server = fresh_control_plane(controller_manager=False)
    world, tool = World(server, server.namespace()), Called(server)
    names = [f"one-of-many-{number:03}" for number in range(PAGE + 10)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: world.create(takara(name, 0)), names))

    first, second = tool.converge(), tool.converge()

    assert first.results == dict.fromkeys(names, "created")
    assert Counter(first.lists)["takaras"] == 2
    assert second.writes == []
    assert Counter(second.lists) == {"deployments": 2, "takaras": 2, "pods": 1}
    assert len(second.requests) == 5
