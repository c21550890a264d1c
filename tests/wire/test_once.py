"""`takara-sync once` against servers that fail: the exit code, the report, the log, and nothing written."""

from __future__ import annotations

import json
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
from tests.wire.credentials import BROKEN, broken, plugin

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
    """Of a real pass the sick wire knows it."""
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
    assert results == ["created", "not reached", "not reached"]
    assert "deadline" in ended.report["error"]["message"]


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


def test_what_is_tolerated_is_no_failure_in_the_report_either(
    command: Command, server: FaultServer, tmp_path: Path
) -> None:
    server.create_takaras("huge", size=5000)
    config = kubeconfig(tmp_path, server)
    strict, tolerant = command.once(config), command.once(config, "--tolerate", "invalid")
    assert (strict.code, strict.report["exit"]) == (6, 6)
    assert (tolerant.code, tolerant.report["exit"]) == (0, 0)


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


def test_one_object_that_fails_costs_itself(command: Command, three: FaultServer, config: Path) -> None:
    three.on("*/deployments/b", status(403, "Forbidden", "quota"), method="PATCH")
    ended = command.once(config)
    assert ended.code == ended.report["exit"] == 1
    assert {one["name"]: one["result"] for one in ended.report["takaras"]} == {
        "a": "created",
        "b": "failed",
        "c": "created",
    }
    assert ended.log[-1]["needs"] == ["default/b (ApplyFailed)"]


def test_a_write_that_breaks_is_retried_and_told(command: Command, three: FaultServer, config: Path) -> None:
    three.on("*/deployments/b", reset, status(503), through, method="PATCH")
    ended = command.once(config)
    assert ended.code == 0
    assert len(ended.warnings("follows in")) == len(ended.warnings()) == 2


def test_with_a_namespace_only_namespaced_paths_are_asked(command: Command, three: FaultServer, config: Path) -> None:
    three.create_takaras("x", namespace="kube-system")
    ended = command.once(config, "-n", "default")
    assert ended.code == 0
    assert len(ended.report["takaras"]) == 3
    assert all("/namespaces/default/" in one.path for one in three.requests)


@pytest.mark.parametrize("token", [f"{TOKEN}\n", f"{TOKEN}\nX-Evil: 1"], ids=["trailing", "inner"])
@pytest.mark.parametrize("level", ["debug", "error"])
def test_a_token_with_a_newline(command: Command, three: FaultServer, tmp_path: Path, token: str, level: str) -> None:
    """That no output holds it is asserted wherever a command ends."""
    config = kubeconfig(tmp_path, three, {"token": token})
    ended = command.once(config, "--log-level", level)
    if token.endswith("\n"):
        assert ended.code == 0
    else:
        assert ended.code in (2, 3)
        assert "token" in ended.stdout + ended.stderr
        assert three.requests == []


def test_a_timeout_longer_than_a_system_can_wait_is_no_bug(command: Command, three: FaultServer, config: Path) -> None:
    ages = "99999999999h"
    ended = command.once(config, "--request-timeout", ages, "--pass-timeout", ages)
    assert (ended.code, len(three.writes)) in ((0, 6), (2, 0))


@pytest.mark.parametrize("what", ["plugin", *BROKEN[:3], "no YAML"])
def test_credentials_that_cannot_be_used(command: Command, three: FaultServer, tmp_path: Path, what: str) -> None:
    failing = plugin("import sys; sys.exit('please log in')")
    path = kubeconfig(tmp_path, three, failing) if what == "plugin" else broken(tmp_path, three, what)
    ended = command.run("once", "--kubeconfig", str(path))
    assert ended.code == 2
    assert str(tmp_path) in ended.stderr
    assert three.requests == []


def test_also_an_error_of_the_credentials_is_a_line_of_json(command: Command, tmp_path: Path) -> None:
    ended = command.run("once", "--kubeconfig", str(tmp_path / "absent"), "--log-format", "json")
    assert [json.loads(line)["level"] for line in ended.stderr.splitlines()] == ["error"]


def test_the_report_is_for_people_unless_asked_otherwise(command: Command, three: FaultServer, config: Path) -> None:
    three.on("*/takaras", status(403, "Forbidden"))
    ended = command.run("once", "--kubeconfig", str(config), "--log-format", "text")
    assert ended.code == 3
    assert ended.stdout.startswith("0 Takaras (")
    assert "error: Cannot list takaras in all namespaces" in ended.stdout
