"""The last pass in a ConfigMap: when it is written, what it says, and that it changes nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from takara_sync import __version__
from takara_sync.cli import loop
from takara_sync.cli.heartbeat import Heartbeat
from takara_sync.cli.last_pass import LastPass
from takara_sync.cli.settings import Settings
from takara_sync.errors import Unreadable
from takara_sync.kube.api import Api, Request, Response
from takara_sync.report import Exit, Result
from takara_sync.simulator import Simulator
from tests.cli.test_loop import STARTED, Beat, report
from tests.support.command import run
from tests.unit.world import failure

PATH = "/api/v1/namespaces/home/configmaps/me"


class ConfigMaps:
    """A transport that knows the one ConfigMap, and keeps what is written to it."""

    def __init__(self, *answers: Response | Exception) -> None:
        self.written: list[dict[str, str]] = []
        self.waits: list[float] = []
        self._answers = list(answers)

    def prepare(self, _: object) -> None: ...

    def close(self) -> None: ...

    def send(self, request: Request, seconds: float) -> Response:
        assert (request.method, request.path) == ("PATCH", PATH)
        assert (request.query, request.content_type) == (
            (("fieldManager", "takara-sync"),),
            "application/merge-patch+json",
        )
        assert isinstance(request.body, dict)
        self.waits.append(seconds)
        self.written.append(request.body["data"])
        answer = self._answers.pop(0) if self._answers else Response(200, {}, b"{}")
        if isinstance(answer, Exception):
            raise answer
        return answer

    def last_pass(self, interval: float | None = None, beat: Beat | None = None) -> LastPass:
        clock = {"clock": lambda: beat.now} if beat else {}
        return LastPass("home/me", lambda: Api(self), interval, **clock)


@pytest.fixture
def maps() -> ConfigMaps:
    return ConfigMaps()


def beat_of(maps: ConfigMaps, interval: float, beat: Beat, duration: float | None = None) -> list[str]:
    """The ends of the passes that a loop on its own clock writes, in seconds since its start."""
    at: list[str] = []
    with maps.last_pass(interval, beat) as last_pass:
        settings = Settings(output="json")
        runner = loop.Runner(settings, beat, Heartbeat(None), beat.one_pass, lambda: beat.now, last_pass=last_pass)
        runner.loop(interval, duration)
        at = [str(len(maps.written))]
    return [*at, str(len(maps.written))]


def test_a_pass_is_written_when_the_process_ends_in_plain_values(maps: ConfigMaps) -> None:
    with maps.last_pass() as last_pass:
        last_pass.ended(report(Result.UNCHANGED, Result.UNCHANGED, Result.CREATED), Exit.OK)
        assert maps.written == []
    (data,) = maps.written
    assert json.loads(data.pop("counts")) == {"created": 1, "unchanged": 2}
    assert data == {
        "start": "2026-01-01T00:00:00Z",
        "end": "2026-01-01T00:00:00Z",
        "lastSuccess": "2026-01-01T00:00:00Z",
        "exit": "0",
        "result": "3 Takaras: 1 created, 2 unchanged (0.1 s)",
        "version": __version__,
    }
    assert maps.waits[0] <= 1.5  # what it may delay the end of the process


def test_a_failed_pass_leaves_the_last_success_as_it_is(maps: ConfigMaps) -> None:
    """A merge patch keeps the keys that it does not name."""
    with maps.last_pass(10) as last_pass:
        last_pass.ended(report(error=Unreadable("no server", "Start it.")), Exit.UNREADABLE)
    (data,) = maps.written
    assert "lastSuccess" not in data
    assert (data["exit"], data["interval"]) == ("3", "10")
    assert "no server. Start it." in data["result"]


@pytest.mark.parametrize(
    ("interval", "passes", "duration", "before_the_end", "at_the_end"),
    [
        (10, 6, 55, "0", "1"),  # the CronJob: one write a minute
        (10, 14, None, "2", "3"),  # a loop: SIGTERM comes in the wait after the 14th pass
        (600, 3, None, "3", "3"),  # a pass an hour is not a minute old when it is written
    ],
)
def test_a_loop_writes_once_a_minute_and_at_its_end(
    maps: ConfigMaps, interval: float, passes: int, duration: float | None, before_the_end: str, at_the_end: str
) -> None:
    assert beat_of(maps, interval, Beat(*[0.1] * passes), duration) == [before_the_end, at_the_end]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (failure(403, "Forbidden", "you may not"), "you may not. Grant the missing right"),
        (failure(404, "NotFound", "no such ConfigMap"), "no such ConfigMap. Apply the manifests of this version again"),
        (failure(500), "no quota"),
        (Unreadable("no route"), "no route"),
    ],
)
def test_a_failure_is_one_warning_until_it_works_again(
    answer: Response | Exception, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    maps = ConfigMaps(answer, answer, Response(200, {}, b"{}"), answer)
    last_pass = maps.last_pass(60)
    warned = []
    for _ in range(4):
        last_pass.ended(report(), Exit.OK)
        last_pass.write()
        warned.append(len(caplog.records))
    assert (len(maps.written), warned) == (4, [1, 1, 1, 2])
    assert all(says in line.message and line.levelname == "WARNING" for line in caplog.records)


def test_a_bug_and_a_pass_that_hangs_are_written_too(maps: ConfigMaps) -> None:
    with pytest.raises(ZeroDivisionError), maps.last_pass():
        _ = 1 / 0
    maps.last_pass().hangs()
    bug, hangs = maps.written
    assert (bug["exit"], hangs["exit"]) == ("70", "70")
    assert "traceback" in bug["result"]
    assert "did not end" in hangs["result"]
    assert datetime.fromisoformat(bug["end"]) > STARTED


HANGS = """
from takara_sync.cli.overrun import watch
from takara_sync.deadline import Deadline
import threading

with watch(Deadline(0.1), None, 0.1, lambda: (print("last words", flush=True), {then})):
    threading.Event().wait()
"""


@pytest.mark.parametrize("then", ["None", "threading.Event().wait()"])
def test_the_last_words_of_a_pass_that_hangs_may_hang_too(then: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGS.format(then=then)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (70, "last words\n")


# ------------------------------------------------------------------ the command


@pytest.fixture
def simulator(tmp_path: Path) -> Iterator[Simulator]:
    with Simulator() as simulator:
        (tmp_path / "kubeconfig").write_text(simulator.kubeconfig())
        yield simulator


def patched(simulator: Simulator) -> int:
    return sum(one.request.path == PATH for one in simulator.store.requests)


@pytest.mark.parametrize(
    ("argv", "writes"),
    [
        (("once",), 0),
        (("once", "--last-pass=home/me"), 1),
        (("once", "--last-pass=home/me", "--dry-run"), 0),
        (("once", "--last-pass=home/me", "--wait=1s"), 1),
        (("--interval=0.1", "--duration=0.2", "--last-pass=home/me"), 1),
    ],
)
def test_only_an_installed_copy_writes_and_a_dry_run_never(
    simulator: Simulator, tmp_path: Path, argv: tuple[str, ...], writes: int
) -> None:
    """The simulator has no ConfigMaps: the exit code is that of the pass all the same, and there is one warning."""
    done = run(*argv, "-o", "json", "--log-level=warning", env={"KUBECONFIG": str(tmp_path / "kubeconfig")})
    assert (done.code, patched(simulator)) == (0, writes)
    assert done.stderr.count("could not be recorded in ConfigMap home/me") == writes


def test_check_asks_for_the_right_if_there_is_something_to_record(simulator: Simulator, tmp_path: Path) -> None:
    assert simulator
    env = {"KUBECONFIG": str(tmp_path / "kubeconfig")}
    assert "configmaps" not in run("check", env=env).stdout
    done = run("check", env=env | {"TAKARA_SYNC_LAST_PASS": "home/me"})
    assert "ok       may patch configmaps/me in namespace home" in done.stdout


def test_what_is_no_name_of_an_object_is_a_usage_error() -> None:
    """For example a variable that a pod spec names and does not define."""
    for wrong in ("$(POD_NAMESPACE)/$(POD_SERVICE_ACCOUNT)", "one", "a/b/c", "A/b", "a/"):
        assert run("once", env={"TAKARA_SYNC_LAST_PASS": wrong}).code == 2


def test_the_manifests_name_the_service_account() -> None:
    """The downward API has its name, and that of the namespace, so that both follow a name prefix of kustomize."""
    for mode in ("cronjob", "loop", "once"):
        found: list[dict[str, Any]] = list(yaml.safe_load_all(run("manifests", f"--mode={mode}").stdout))
        text = yaml.safe_dump(found)
        assert text.count("fieldPath: spec.serviceAccountName") == 1
        (made,) = (each for each in found if each["kind"] == "ConfigMap")
        (account,) = (each for each in found if each["kind"] == "ServiceAccount")
        assert made["metadata"] == account["metadata"]
        assert "data" not in made
