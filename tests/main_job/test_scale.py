"""Many Takaras, several pages, and tokens that expire between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from takara_sync import Deadline, KubeCluster
from takara_sync.kube.api import Api
from tests.control_plane.server import ControlPlane
from tests.support.takaras import takara
from tests.tool import Tool
from tests.world import World


def test_700_takaras_converge_in_one_pass(fresh_control_plane: Callable[..., ControlPlane]) -> None:
    server = fresh_control_plane(controller_manager=False)
    world = World(server, server.namespace())
    tool = Tool(server)
    names = [f"one-of-many-{number:03}" for number in range(700)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: world.create(takara(name, 0)), names))

    first = tool.converge()

    assert set(first.results.values()) == {"created"}
    assert len(first.results) == 700
    assert Counter(first.lists)["takaras"] == 2
    second = tool.converge()
    assert second.writes == []
    assert Counter(second.lists) == {"deployments": 2, "takaras": 2, "pods": 1}
    assert len(second.requests) == 5


def test_a_token_that_expires_between_two_pages_starts_that_list_again(
    world: World, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.create(*(takara(f"number-{number}", 0) for number in range(5)))
    api = Api.connect(str(tool.user.kubeconfig))
    send = api.send
    compacted: list[bool] = []

    def send_and_compact(*args: Any, **options: Any) -> bytes:
        answer = send(*args, **options)
        if not compacted:
            world.server.compact()
            compacted.append(True)
        return answer

    monkeypatch.setattr(api, "send", send_and_compact)
    monkeypatch.setattr("takara_sync.kube.cluster.PAGE", 2)

    found = KubeCluster(api, namespaces=[world.namespace]).takaras(Deadline())

    assert sorted(one.key.name for one in found.items) == [f"number-{number}" for number in range(5)]
    assert [request.code for request in world.server.requests(tool.user)] == [200, 410, 200, 200, 200]
