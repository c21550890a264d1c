"""The loop: it ends when it is told to, and grows by nothing."""

from __future__ import annotations

import signal
import subprocess
import threading
from typing import TYPE_CHECKING

import psutil
import pytest

from takara_sync import KubeCluster, Policy, sync_once
from takara_sync.kube.api import Api
from tests.world import World, takara

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.tool import Tool

POOL = 16  # connections that one Api keeps


@pytest.fixture
def loop(tool: Tool) -> Iterator[subprocess.Popen[str]]:
    """A running loop with a long interval, after its first pass."""
    args = [*tool.args("--interval", "300")]
    with subprocess.Popen(
        args, env=tool.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_ends_the_wait_with_0(loop: subprocess.Popen[str], number: signal.Signals) -> None:
    assert loop.stdout is not None
    assert '"exit":0' in loop.stdout.readline()  # the first pass is over

    loop.send_signal(number)

    assert loop.wait(timeout=10) == 0  # far less than the interval


def test_passes_follow_each_other(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    with subprocess.Popen(
        tool.args("--interval", "0.2"),
        env=tool.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        process.terminate()
        assert process.wait(timeout=10) in (0, 4)
    assert '"result":"created"' in lines[0]
    assert all('"result":"unchanged"' in line for line in lines[1:])


def test_50_passes_leave_memory_threads_and_descriptors_as_they_were(world: World, tool: Tool) -> None:
    world.create(*(takara(f"one-{number}", 1) for number in range(20)))
    api = Api.connect(str(tool.user.kubeconfig), connections=POOL)
    me = psutil.Process()

    def passes(count: int) -> tuple[int, int, int]:
        for number in range(count):
            world.merge(f"one-{number % 20}", {"spec": {"size": number % 3}})
            assert sync_once(KubeCluster(api, namespaces=[world.namespace]), Policy()).exit == 0
        while any(isinstance(thread, threading.Timer) for thread in threading.enumerate()):
            pass  # a cancelled timer needs a moment to see it
        return me.memory_info().rss, me.num_threads(), me.num_fds()

    passes(20)  # connections, caches and the allocator's arenas
    memory, threads, descriptors = passes(5)
    memory_after, threads_after, descriptors_after = passes(50)

    # A pool fills as it happens, and the simulator, in this very process, has a thread and a descriptor for each
    # connection too. A leak would be one a pass.
    assert threads_after <= threads + POOL
    assert descriptors_after <= descriptors + 2 * POOL
    assert memory_after - memory < 4 * 2**20


def test_a_slow_old_pass_never_puts_an_older_size_over_a_newer_one(world: World, tool: Tool) -> None:
    world.create(takara("one", 2))

    class Slow(KubeCluster):
        """Creates late: somebody else's whole pass fits in between."""

        def create(self, body):  # type: ignore[no-untyped-def]
            world.merge("one", {"spec": {"size": 5}})
            tool.converge()
            assert world.deployment("one")["spec"]["replicas"] == 5
            return super().create(body)

    slow = Slow(Api.connect(str(tool.user.kubeconfig)), namespaces=[world.namespace])
    report = sync_once(slow)

    assert report.exit == 0
    assert world.deployment("one")["spec"]["replicas"] == 5
    history = [entry for entry in world.server.requests(tool.user) if entry.resource == "deployments" and entry.writes]
    assert [entry.code for entry in history][:2] == [201, 409]


def test_sigterm_in_a_pass_ends_it_with_4_and_a_report(world: World, tool: Tool) -> None:
    world.create(*(takara(f"one-{number:03}", 0) for number in range(200)))
    with subprocess.Popen(
        tool.args("--interval", "300", "--concurrency", "1"),
        env=tool.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        while " created" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=20)

    assert process.returncode == 4, stderr
    assert '"not reached":' in stdout
    assert "SIGTERM" in stdout
    made = stdout.count('"result":"created"')
    assert 0 < made < 200
    assert sum(world.has_deployment(f"one-{number:03}") for number in range(200)) == made
    assert len(tool.converge().results) == 200
