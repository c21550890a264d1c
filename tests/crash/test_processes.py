"""The installed command as processes, on a real server and a fleet that drifted in every way: whatever becomes of
them, the fleet ends as after one process that nothing disturbed."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.control_plane.server import ControlPlane
from tests.crash.onserver import OnServer, breaches_in, unrecorded
from tests.crash.situations import drifted_fleet
from tests.crash.survival import Story, Trial, told
from tests.server import Request
from tests.tool import Tool

COPIES = 8
_SECONDS = 60


def killed(tool: Tool, lines: int, seconds: float) -> bool:
    """`takara-sync once`, killed so long after so many lines of its log; whether that came before its end."""
    process = tool.started("once")
    assert process.stderr
    for _ in range(lines):
        process.stderr.readline()
    time.sleep(seconds)
    process.kill()
    process.communicate(timeout=_SECONDS)
    return process.returncode == -signal.SIGKILL


def at_once(copies: list[Tool], code: int) -> None:
    """`takara-sync once` by each of them, all started before any is waited for; each ends as one alone does."""
    patient = ("--pass-timeout", "5m", "--request-timeout", "1m")  # the time is not what this is about
    processes = [copy.started("once", *patient) for copy in copies]
    with ThreadPoolExecutor(len(copies)) as pool:
        outputs = list(pool.map(lambda process: process.communicate(timeout=300), processes))
    for process, (report, log) in zip(processes, outputs, strict=True):
        assert process.returncode == code, (report, log)
        assert "Traceback" not in log


def heals(bench: OnServer, story: Story) -> list[Request]:
    """The command, once more, ends as if nothing had been; all requests of its user since the beginning."""
    healed = bench.tool.once()
    assert healed.code == story.passes[0].exit, healed.stdout + healed.stderr
    return bench.world.server.requests(bench.tool.user)[bench.seen :]


def ends_as_told(
    bench: OnServer, story: Story, requests: list[Request], forgotten: Collection[str], more: int = 1
) -> None:
    """Later passes write the rest, and all is as in the story.

    The story's end has the generation of each Deployment: none was changed more often than by one process alone.
    requests: those that were sent so far. forgotten: Takaras whose record of a contest is not compared. more: how many
    applies of a Deployment there may be beyond those of the story.
    """
    assert breaches_in(requests) == []
    trial = Trial(bench, story, fresh=False)
    trial.forgotten = frozenset(forgotten)
    writes = (each for each in requests if each.writes and each.code < 300 and each.resource != "events")
    trial.writes.update(each.name for each in writes if not each.subresource)
    trial.until_settled()
    trial.ends_as_told(more)


def a_kill(bench: OnServer, story: Story, draw: random.Random) -> bool:
    """At a drawn moment after a drawn line of the log; what was in flight then may come after the end."""
    bench.back_to(bench.start)
    changes = sum(call.writes and not call.is_status for call in story.passes[0].calls)
    kill = killed(bench.tool, draw.randrange(1, changes // 2), draw.uniform(0, 0.03))
    requests = heals(bench, story)
    lists = [number for number, each in enumerate(requests) if (each.verb, each.resource) == ("list", "deployments")]
    ends_as_told(bench, story, requests, unrecorded(requests[: lists[-1]]))
    return kill


def eight_at_once(bench: OnServer, story: Story) -> int:
    """How many writes met what another copy had written. Which copy recorded a contest is theirs to say."""
    bench.back_to(bench.start)
    server, names = bench.world.server, {one["metadata"]["name"] for one in bench.state().takaras}
    copies = [Tool(server, bench.world.namespace) for _ in range(COPIES)]
    at_once(copies, story.passes[0].exit)
    sent = [request for copy in copies for request in server.requests(copy.user)]
    requests = [request for request in sent if request.resource != "events"]
    ends_as_told(bench, story, requests + heals(bench, story), names, more=COPIES)
    return sum(request.writes and request.code in (409, 422) for request in requests)


@pytest.mark.timeout(400)
def test_killed_processes_and_eight_at_once_end_as_one_does(
    control_plane: ControlPlane, draw: random.Random, long: bool, count: Callable[[str, int], None]
) -> None:
    bench = OnServer(control_plane, drifted_fleet(3 if long else 1))
    story = told(bench)
    kills = sum(a_kill(bench, story, draw) for _ in range(40 if long else 2))
    conflicts = sum(eight_at_once(bench, story) for _ in range(10 if long else 1))
    assert kills > 0
    assert conflicts > 0
    count("SIGKILLs survived, real server", kills)
    count("writes of eight copies that another one had made", conflicts)
