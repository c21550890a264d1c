"""What ends a pass that waits; test_every_call has the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.wire.answers import HEAD, never, through
from tests.wire.command import USAGE, Command, kubeconfig
from tests.wire.credentials import plugin

if TYPE_CHECKING:
    from pathlib import Path

    from tests.wire.server import FaultServer, Wire

MIB = 2**20


@pytest.fixture
def config(server: FaultServer, tmp_path: Path) -> str:
    server.create_takaras("a")
    return str(kubeconfig(tmp_path, server))


def test_a_server_that_never_answers_is_unreadable(command: Command, server: FaultServer, config: str) -> None:
    """It is the server that the pass waited for, so it is no mere cut."""
    server.on("*", never())
    ended = command.run("once", "--kubeconfig", config, "-o", "json", "--pass-timeout", "1s")
    assert ended.code == ended.report["exit"] == 3
    assert "was not answered" in ended.report["error"]["message"]
    assert (len(server.requests), server.writes) == (1, [])


def test_the_pass_deadline_in_the_middle_of_the_writes(command: Command, server: FaultServer, config: str) -> None:
    """The end of its time is for the status of what was created."""
    server.create_takaras("b", "c")
    server.on("*/deployments/*", through, never(), method="PATCH")
    times = ("--concurrency", "1", "--request-timeout", "3s", "--pass-timeout", "3s")
    ended = command.run("once", "--kubeconfig", config, "-o", "json", *times)
    assert ended.code == ended.report["exit"] == 4
    assert sorted(one["result"] for one in ended.report["takaras"]) == ["created", "failed", "not reached"]
    assert len(server.asked("*/status")) == 1


def test_a_short_pass_timeout_alone_is_no_clash(command: Command, server: FaultServer, config: str) -> None:
    """A try then takes no longer than the pass, though --request-timeout is 10 s by default."""
    ended = command.run("once", "--kubeconfig", config, "--pass-timeout", "9s")
    assert (ended.code, len(server.writes)) == (0, 2)


def test_a_credential_plugin_that_outlasts_the_pass(command: Command, server: FaultServer, tmp_path: Path) -> None:
    """It waits for a person, say: the cluster is not asked anything, and the error says what to try."""
    waiting = kubeconfig(tmp_path, server, plugin("import time; time.sleep(9)"))
    ended = command.run("once", "--kubeconfig", str(waiting), "--pass-timeout", "1s")
    assert (ended.code, server.connections) == (USAGE, 0)
    assert "could not be read within 1 s" in ended.stderr
    assert "run its command by hand" in ended.stderr


def test_a_page_without_end_is_read_to_256_mib(command: Command, server: FaultServer, config: str) -> None:
    """The real limit, once; elsewhere it is a smaller one. What is on the way when reading stops is in the buffers."""
    sent = 0

    def flood(wire: Wire) -> None:
        nonlocal sent
        wire.send(HEAD.replace(b"100000", b"9" * 15))
        while True:
            wire.send(b" " * MIB)
            sent += 1

    server.on("*/takaras", flood)
    ended = command.end(command.start("once", "--kubeconfig", config, "-o", "json", "--request-timeout", "50s"))
    assert ended.code == 3
    assert "more than 256 MiB" in ended.report["error"]["message"]
    assert (len(server.asked("*/takaras")), server.writes) == (1, [])
    assert 256 <= sent <= 256 + 64  # the buffers of both ends hold what is not read any more
