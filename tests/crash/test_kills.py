"""SIGKILL for the installed command in the middle of a drifted fleet: the next pass puts everything right."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import TYPE_CHECKING

from tests.crash.onserver import OnServer, breaches_in, foreign_in, unrecorded
from tests.crash.situations import DRIFTED, DRIFTED_LITTLE
from tests.crash.survival import Trial, told

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from tests.control_plane.server import ControlPlane
    from tests.crash.survival import Story
    from tests.tool import Tool

_SECONDS = 60


def killed(tool: Tool, lines: int, seconds: float) -> bool:
    """`takara-sync once`, killed so long after so many lines of its log; whether that came before its end."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(tool.args("once"), env=tool.environment(), stdout=pipe, stderr=pipe, text=True)
    assert process.stderr
    for _ in range(lines):
        process.stderr.readline()
    time.sleep(seconds)
    process.kill()
    process.communicate(timeout=_SECONDS)
    return process.returncode == -signal.SIGKILL


def heals(bench: OnServer, story: Story) -> None:
    """The command, once more, ends as if nothing had been; later passes write the rest, and all is as in the story.

    What was in flight when it was killed may have come after its end.
    """
    trial = Trial(bench, story, fresh=False)
    healed = bench.tool.once()
    assert healed.code == story.passes[0].exit, healed.stdout + healed.stderr
    every = bench.world.server.requests(bench.tool.user)[bench.seen :]
    lists = [number for number, each in enumerate(every) if (each.verb, each.resource) == ("list", "deployments")]
    trial.forgotten = unrecorded(every[: lists[-1]])
    assert breaches_in(every, foreign_in(bench.state())) == []
    trial.writes.update(each.name for each in every if each.writes and each.code < 300 and not each.subresource)
    trial.until_settled()
    trial.ends_as_told(more=1)


def test_each_deployment_that_it_changes_is_one(
    control_plane: ControlPlane, draw: random.Random, long: bool, count: Callable[[str, int], None]
) -> None:
    """Killed at a drawn moment after a drawn line of its log."""
    bench = OnServer(control_plane, DRIFTED if long else DRIFTED_LITTLE)
    story = told(bench)
    changes = sum(call.writes and not call.is_status for call in story.passes[0].calls)
    kills = 0
    for _ in range(200 if long else 3):
        bench.back_to(bench.start)
        kills += killed(bench.tool, draw.randrange(1, changes // 2), draw.uniform(0, 0.03))
        heals(bench, story)
    count("SIGKILLs survived, real server", kills)
    assert kills > 0
