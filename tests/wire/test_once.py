"""`takara-sync once` against servers that fail: the exit code, the report, the log, and nothing written."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from takara_sync.cluster import DryRun
from takara_sync.kube.cluster import KubeCluster
from takara_sync.report import Exit
from takara_sync.sync import sync_once
from tests.wire.answers import html, never, reset, status, through
from tests.wire.command import MODULE, TOKEN, Command, kubeconfig

if TYPE_CHECKING:
    from takara_sync.kube.api import Api
    from tests.wire.answers import Answer
    from tests.wire.server import FaultServer


@pytest.fixture
def three(server: FaultServer) -> FaultServer:
    """A server with three Takaras that have no Deployment yet."""
    server.create_takaras("a", "b", "c")
    return server


@pytest.fixture
def config(three: FaultServer, tmp_path: Path) -> Path:
    return kubeconfig(tmp_path, three)


@pytest.mark.parametrize("answer", [html(), reset, status(403, "Forbidden")], ids=["html", "reset", "403"])
@pytest.mark.parametrize("which", ["deployments", "takaras", "pods"])
def test_a_list_that_fails_stops_a_dry_run(api: Api, three: FaultServer, which: str, answer: Answer) -> None:
    """For a pass that writes see test_every_call."""
    three.on(f"*/{which}", answer, method="GET")
    report = sync_once(DryRun(KubeCluster(api)))
    assert report.exit == Exit.UNREADABLE
    assert [outcome.result for outcome in report.outcomes] == ["created"] * (3 if which == "pods" else 0)
    assert three.writes == []


def test_the_pass_deadline_in_the_middle_of_the_writes(command: Command, three: FaultServer, config: Path) -> None:
    three.on("*/deployments/*", through, never(), method="PATCH")
    args = ("--concurrency", "1", "--request-timeout", "5s", "--pass-timeout", "5s")
    ended = command.once(config, *args)
    assert ended.code == ended.report["exit"] == 4
    results = sorted(one["result"] for one in ended.report["takaras"])
    assert results == ["created", "failed", "not reached"]
    assert len(three.asked("*/status")) == 1  # of the created one: the end of the time is for statuses


def test_a_pass_in_good_health(command: Command, three: FaultServer, config: Path) -> None:
    first, second = command.once(config), command.once(config)
    assert (first.code, second.code) == (0, 0)
    assert len(three.writes) == 6
    assert {one.headers["authorization"] for one in three.requests} == {f"Bearer {TOKEN}"}
    assert all(one.headers["user-agent"].startswith("takara-sync") for one in three.requests)
    assert first.warnings() == second.warnings() == []


def test_a_dry_run_tells_what_is_pending_and_writes_nothing(command: Command, three: FaultServer, config: Path) -> None:
    ended = command.once(config, "--dry-run")
    assert ended.code == ended.report["exit"] == ended.log[-1]["exit"] == 1
    assert ended.report["counts"] == {"created": 3}
    assert {one.method for one in three.requests} == {"GET"}


def test_a_reader_who_has_had_enough_changes_nothing(command: Command, three: FaultServer, config: Path) -> None:
    process = command.start("once", "--kubeconfig", str(config), "-o", "json")
    assert process.stdout
    process.stdout.close()
    process.stdout = None
    ended = command.end(process)
    assert ended.code == 0
    assert len(three.writes) == 6


def test_a_report_that_cannot_be_written_is_no_bug(command: Command, config: Path) -> None:
    """A full disk: the pass was made; a loop must go on."""
    args = (*MODULE, "once", "--kubeconfig", str(config), "-o", "json")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(args, stdout=full, stderr=subprocess.PIPE, env=command.env, timeout=30, check=False)
    assert done.returncode not in (0, 70)
    assert b"Traceback" not in done.stderr


def test_a_timeout_longer_than_a_system_can_wait_is_no_bug(command: Command, three: FaultServer, config: Path) -> None:
    ages = "99999999999h"
    ended = command.once(config, "--request-timeout", ages, "--pass-timeout", ages)
    assert (ended.code, len(three.writes)) in ((0, 6), (2, 0))
