"""The command in its loop on a real server, hundreds of passes long: it grows by nothing."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import NamedTuple

import psutil
import pytest

from tests.control_plane.server import ControlPlane
from tests.support.takaras import takara
from tests.tool import Tool
from tests.world import World

PASSES = 500
POOL = 16  # threads and connections that a pass may have at once


class Held(NamedTuple):
    memory: int
    threads: int
    descriptors: int


@pytest.mark.timeout(300)
def test_hundreds_of_passes_leave_memory_threads_and_descriptors_as_they_were(
    control_plane: ControlPlane, long: bool, count: Callable[[str, int], None]
) -> None:
    world = World(control_plane, control_plane.namespace())
    world.create(*(takara(f"one-{number}", 1) for number in range(10)))
    tool = Tool(control_plane, world.namespace)
    passes = 3000 if long else PASSES
    with tool.started("--interval", "0.01", "--log-level", "error") as process:
        looks = [_after(process, world, number) for number in range(passes)]
        process.terminate()
        assert process.wait(timeout=20) in (0, 4)  # in a wait or in a pass

    early, late = _most(looks[30:60]), _most(looks[-30:])
    assert late.threads <= early.threads + POOL  # a leak would be one a pass
    assert late.descriptors <= early.descriptors + POOL
    assert late.memory - early.memory < 8 * 2**20
    count("real passes of one loop", passes)


def _after(process: subprocess.Popen[str], world: World, number: int) -> Held:
    """What the process holds after its next pass; somebody changes a Takara now and then."""
    assert process.stdout
    report = json.loads(process.stdout.readline())
    assert report["exit"] == 0, report
    if number % 5 == 0:
        world.merge(f"one-{number // 5 % 10}", {"spec": {"size": number // 50 % 3}})
    seen = psutil.Process(process.pid)
    return Held(seen.memory_info().rss, seen.num_threads(), seen.num_fds())


def _most(looks: list[Held]) -> Held:
    return Held(*(max(values) for values in zip(*looks, strict=True)))
