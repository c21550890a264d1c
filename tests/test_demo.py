"""The demo: what it prints is true, and the embedded cluster that it keeps up is one for kubectl."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from tests.tool import COMMAND

TRANSCRIPT = Path(__file__).with_name("demo.txt")


class Kubectl(Protocol):
    """Runs kubectl and checks that it ended well, unless told not to."""

    def __call__(self, *args: str, stdin: str = "", check: bool = True) -> subprocess.CompletedProcess[str]: ...


def test_the_transcript(tmp_path: Path) -> None:
    """In an empty home, with settings of the user's that must not matter."""
    environment = {
        "HOME": str(tmp_path),
        "KUBECONFIG": "/nowhere",
        "TAKARA_SYNC_NAMESPACE": "elsewhere",
        "NO_PROXY": "*",
    }
    done = subprocess.run([COMMAND, "demo"], env=environment, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 0, done.stdout + done.stderr
    assert _timeless(done.stdout) == TRANSCRIPT.read_text()
    assert list(tmp_path.iterdir()) == []


def _timeless(text: str) -> str:
    text = re.sub(r"\(\d+\.\d s\)", "(0.0 s)", text)
    return re.sub(r"\b\d+s$", "0s", text, flags=re.MULTILINE)


def test_a_surprise_is_loud(tmp_path: Path) -> None:
    """A program that does nothing instead of takara-sync: the first step's outcome is not there."""
    code = (
        "import sys, takara_sync.cli.demo as demo, takara_sync.cli.main as main\n"
        "demo.sys = type('Fake', (), {'executable': '/bin/true', 'stdout': sys.stdout, 'path': sys.path})\n"
        "sys.exit(main.main(['demo']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 70
    assert "Deployments changed: ['example-takara', 'takara-busybox'], not []" in done.stderr


@pytest.fixture
def kubectl(control_plane_assets: Path, tmp_path: Path) -> Iterator[Kubectl]:
    """The real kubectl, on the cluster that `demo --serve` keeps up."""
    with subprocess.Popen([COMMAND, "demo", "--serve"], env={}, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        path = next(line for line in demo.stdout if line.startswith("export KUBECONFIG=")).strip().partition("=")[2]

        def run(*args: str, stdin: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
            command = [str(control_plane_assets / "kubectl"), "--kubeconfig", path, *args]
            environment = {"HOME": str(tmp_path), "PATH": os.defpath}
            done = subprocess.run(
                command, env=environment, input=stdin, capture_output=True, text=True, check=False, timeout=60
            )
            assert done.returncode == 0 or not check, done.stdout + done.stderr
            return done

        once = [COMMAND, "once", "--kubeconfig", path]
        subprocess.run(once, env={}, check=True, capture_output=True)
        yield run
        demo.send_signal(signal.SIGINT)
        assert demo.wait(timeout=10) == 0
        assert not Path(path).exists()


def test_kubectl_reads_what_is_there(kubectl: Kubectl) -> None:
    assert "example-takara   3" in kubectl("get", "tk").stdout
    assert "NODES" in kubectl("get", "tk", "-o", "wide").stdout
    both = kubectl("get", "deploy,pods").stdout
    assert "deployment.apps/takara-busybox" in both
    assert "Ready" in kubectl("describe", "tk", "example-takara").stdout


MANIFEST = "{apiVersion: maho.takara.org/v1alpha1, kind: Takara, metadata: {name: mine}, spec: {size: %d}}"


def test_kubectl_changes_what_is_there(kubectl: Kubectl) -> None:
    def size() -> str:
        return kubectl("get", "tk", "mine", "-o", "jsonpath={.spec.size}").stdout

    kubectl("apply", "-f", "-", stdin=MANIFEST % 1)
    kubectl("apply", "-f", "-", stdin=MANIFEST % 2)
    assert size() == "2"
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=MANIFEST % 3)
    assert size() == "3"
    kubectl("scale", "tk/mine", "--replicas=4")
    assert size() == "4"
    kubectl("patch", "tk", "mine", "--type=merge", "-p", '{"spec": {"size": 5}}')
    assert size() == "5"
    kubectl("scale", "deployment/example-takara", "--replicas=7")
    assert kubectl("get", "deployment", "example-takara", "-o", "jsonpath={.spec.replicas}").stdout == "7"
    kubectl("delete", "tk", "mine")
    assert "NotFound" in kubectl("get", "tk", "mine", check=False).stderr
    refused = kubectl("apply", "-f", "-", stdin=MANIFEST.replace("%d", "-1"), check=False).stderr
    assert "spec.size" in refused


@pytest.mark.parametrize(
    "args",
    [("get", "pods", "-w"), ("wait", "--for=jsonpath={.spec.size}=99", "tk/example-takara", "--timeout=2s")],
    ids=["get -w", "wait"],
)
def test_what_needs_a_watch_is_not_served(kubectl: Kubectl, args: tuple[str, ...]) -> None:
    done = kubectl(*args, check=False)
    assert "not served" in done.stdout + done.stderr
