"""A control plane starts with what it is asked for, says why where it cannot, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.control_plane.build import HOW_TO_BUILD
from tests.control_plane.processes import Ports, StartError
from tests.control_plane.users import OTHERS, NoMoreUsersError
from tests.control_plane.waiting import START_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.control_plane.server import ControlPlane

    Start = Callable[..., ControlPlane]

ROOT = Path(__file__).parents[2]
TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/{}/takaras"
MERGE = "application/merge-patch+json"
BAD_SPECS = [7, [], "", {"size": "3"}, {"size": -1}, {"size": 1.5}, {"size": 2**31}, {"size": True}, {}]

# Starts a control plane as a test process would, says what it consists of, and stays.
_HOLD = """
import json, sys, time
from pathlib import Path
from tests.control_plane.server import ControlPlane
with ControlPlane(Path(sys.argv[1])) as server:
    print(json.dumps({"folder": str(server.folder), "pids": server.pids}), flush=True)
    time.sleep(600)
"""


def bad_takara(spec: object) -> dict[str, object]:
    metadata = {"generateName": "bad-"}
    return {"apiVersion": "maho.takara.org/v1alpha1", "kind": "Takara", "metadata": metadata, "spec": spec}


def alive(pid: int) -> bool:
    """Whether the process runs; one that only waits for its parent to take notice does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


def pytest_of_one_test(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs a test that needs a control plane, in a pytest that finds none but has settings of a user."""
    settings = {"TAKARA_SYNC_INTERVAL": "1", "KUBECONFIG": "/nowhere", "WATCH_NAMESPACE": "x"}
    environment = {**os.environ, **settings, "XDG_CACHE_HOME": str(tmp_path)}
    for name in ("KUBEBUILDER_ASSETS", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    chosen = "the_server_is_a_real_one or nothing_of_the_users"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", chosen, *options]
    return subprocess.run(
        [*command, "tests/test_control_plane.py", "tests/control_plane/test_lifecycle.py"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_nothing_of_the_users_own_settings_is_left() -> None:
    left = {name for name in os.environ if name.startswith("TAKARA_SYNC_")}
    assert not left | (os.environ.keys() & {"KUBECONFIG", "WATCH_NAMESPACE", "KUBERNETES_SERVICE_HOST"})


def test_without_a_control_plane_the_run_says_so_and_skips(tmp_path: Path) -> None:
    run = pytest_of_one_test(tmp_path)
    assert run.returncode == 0, run.stdout
    assert run.stdout.count("simulator only: ") == 2
    assert "1 passed, 1 skipped" in run.stdout
    assert HOW_TO_BUILD in run.stdout


def test_a_required_control_plane_that_is_not_there_fails_the_run(tmp_path: Path) -> None:
    run = pytest_of_one_test(tmp_path, "--require-control-plane")
    assert run.returncode == 1
    assert "1 passed" in run.stdout
    assert "1 error" in run.stdout


def test_incomplete_assets_end_the_run(tmp_path: Path) -> None:
    environment = {**os.environ, "KUBEBUILDER_ASSETS": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "--collect-only", "tests/control_plane"]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert "lacks etcd, " in run.stderr


def test_the_crd_can_be_left_out(fresh_control_plane: Start) -> None:
    server = fresh_control_plane(crd=False, controller_manager=False)
    assert set(server.pids) == {"etcd", "kube-apiserver"}
    answer = server.call("GET", TAKARAS.format("default"))
    assert (answer.status, answer.body) == (404, "404 page not found\n")


@pytest.mark.parametrize(("crd", "code"), [("schemaless", 201), (True, 422)])
def test_only_a_crd_without_schema_lets_everything_in(crd: bool | str, code: int, fresh_control_plane: Start) -> None:
    server = fresh_control_plane(crd=crd, controller_manager=False)
    path = TAKARAS.format(server.namespace())
    codes = [server.call("POST", path, bad_takara(spec)).status for spec in BAD_SPECS]
    assert codes == [code] * len(BAD_SPECS)
    served = server.call("PATCH", f"{path}/absent/status", {}, content_type=MERGE)
    assert "absent" in served.body["message"]  # the subresource is there, that Takara is not


def test_more_flags_for_the_api_server_and_users_without_end(fresh_control_plane: Start) -> None:
    server = fresh_control_plane(crd=False, controller_manager=False, api_server_flags=["--anonymous-auth=false"])
    assert server.call("GET", "/version").status == 200
    for _ in range(OTHERS):
        server.user(admin=False)
    with pytest.raises(NoMoreUsersError):
        server.user(admin=False)


def test_a_start_that_fails_shows_the_log_and_leaves_nothing(
    fresh_control_plane: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(StartError, match=r"(?s)kube-apiserver ended with code 1\n.*unknown flag: --no-such-flag"):
        fresh_control_plane(api_server_flags=["--no-such-flag"])
    assert list(tmp_path.iterdir()) == []


def test_the_end_leaves_no_process_and_no_folder(fresh_control_plane: Start) -> None:
    server = fresh_control_plane()
    pids, folder = server.pids, server.folder
    assert set(pids) == {"etcd", "kube-apiserver", "kube-controller-manager"}
    assert all(alive(pid) for pid in pids.values())
    server.__exit__(None, None, None)
    assert not any(alive(pid) for pid in pids.values())
    assert not folder.exists()


def test_a_killed_test_process_leaves_no_child(control_plane_assets: Path) -> None:
    command = [sys.executable, "-c", _HOLD, str(control_plane_assets)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        held = json.loads(process.stdout.readline())
        assert all(alive(pid) for pid in held["pids"].values())
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until(lambda: " ".join(name for name, pid in held["pids"].items() if alive(pid)), within=START_SECONDS)
    shutil.rmtree(held["folder"])


def test_nobody_else_gets_a_reserved_port() -> None:
    with contextlib.closing(Ports(2)) as ours, contextlib.closing(Ports(200)) as others:
        assert not set(ours.numbers) & set(others.numbers)
        with socket.socket() as unshared, pytest.raises(OSError, match="in use"):
            unshared.bind(("127.0.0.1", ours.numbers[0]))
