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
from tests.control_plane.workloads import settle

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


def pytest_of_two_tests(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """One that needs a control plane and one that does not, in a pytest that has settings of a user."""
    settings = {"TAKARA_SYNC_INTERVAL": "1", "KUBECONFIG": "/nowhere", "WATCH_NAMESPACE": "x"}
    mine = {name: value for name, value in os.environ.items() if name not in ("KUBEBUILDER_ASSETS", "PYTEST_ADDOPTS")}
    chosen = "the_server_is_a_real_one or nothing_of_the_users"
    command = [sys.executable, "-m", "pytest", "-n0", "-p", "no:cacheprovider", "-k", chosen, *options, __file__]
    return subprocess.run(
        command, cwd=ROOT, env=mine | settings | environment, capture_output=True, text=True, check=False
    )


def test_nothing_of_the_users_own_settings_is_left() -> None:
    left = {name for name in os.environ if name.startswith("TAKARA_SYNC_")}
    assert not left | (os.environ.keys() & {"KUBECONFIG", "WATCH_NAMESPACE", "KUBERNETES_SERVICE_HOST"})


@pytest.mark.parametrize(("options", "words"), [((), "1 passed, 1 skipped"), (("--require-control-plane",), "1 error")])
def test_without_a_control_plane_the_run_says_so_and_skips_or_fails(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    run = pytest_of_two_tests(*options, XDG_CACHE_HOME=str(tmp_path))
    assert run.stdout.count("simulator only: ") == 2
    assert HOW_TO_BUILD in run.stdout
    assert "1 passed" in run.stdout
    assert words in run.stdout
    assert (run.returncode == 0) == (not options)


def test_incomplete_assets_end_the_run(tmp_path: Path) -> None:
    run = pytest_of_two_tests(KUBEBUILDER_ASSETS=str(tmp_path))
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert "lacks etcd, " in run.stderr


def test_the_server_is_a_real_one(control_plane: ControlPlane) -> None:
    version = control_plane.call("GET", "/version").body
    assert version["gitVersion"].startswith("v1.36.")
    assert (version["major"], version["minor"]) == ("1", "36")


def test_a_rollout_that_cannot_go_on_never_settles(control_plane: ControlPlane, namespace: str) -> None:
    control_plane.kubectl("create", "deployment", "one", "--image=busybox", "--replicas=3", namespace=namespace)
    control_plane.make_ready(namespace, "one")
    control_plane.kubectl("rollout", "restart", "deployment/one", namespace=namespace)
    with pytest.raises(TimeoutError, match=f"Deployment {namespace}/one has "):
        settle(control_plane, namespace, within=2)


def test_more_flags_for_the_api_server_no_crd_and_users_without_end(fresh_control_plane: Start) -> None:
    server = fresh_control_plane(crd=False, controller_manager=False, api_server_flags=["--anonymous-auth=false"])
    assert set(server.pids) == {"etcd", "kube-apiserver"}
    answer = server.call("GET", TAKARAS.format("default"))
    assert (answer.status, answer.body) == (404, "404 page not found\n")
    for _ in range(OTHERS):
        server.user(admin=False)
    with pytest.raises(NoMoreUsersError):
        server.user(admin=False)


def test_a_crd_without_schema_lets_everything_in_and_the_end_leaves_no_process_and_no_folder(
    control_plane: ControlPlane, fresh_control_plane: Start
) -> None:
    fresh = fresh_control_plane(crd="schemaless")
    for server, code in ((fresh, 201), (control_plane, 422)):
        path = TAKARAS.format(server.namespace())
        codes = [server.call("POST", path, bad_takara(spec)).status for spec in BAD_SPECS]
        assert codes == [code] * len(BAD_SPECS)
        found = server.call("PATCH", f"{path}/absent/status", {}, content_type=MERGE)
        assert "absent" in found.body["message"]  # the subresource is there, that Takara is not
    pids = fresh.pids
    assert set(pids) == {"etcd", "kube-apiserver", "kube-controller-manager"}
    assert all(alive(pid) for pid in pids.values())
    fresh.__exit__(None, None, None)
    assert not any(alive(pid) for pid in pids.values())
    assert not fresh.folder.exists()


def test_a_start_that_fails_shows_the_log_and_leaves_nothing(
    fresh_control_plane: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(StartError, match=r"(?s)kube-apiserver ended with code 1\n.*unknown flag: --no-such-flag"):
        fresh_control_plane(api_server_flags=["--no-such-flag"])
    assert list(tmp_path.iterdir()) == []


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
