"""The demo: what it prints is true, and the embedded cluster that it keeps up is one for kubectl."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

from tests.support.command import run
from tests.tool import COMMAND

TRANSCRIPT = Path(__file__).with_name("demo.txt")


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


def test_the_cluster_that_it_keeps_up_is_one_for_kubectl(control_plane_assets: Path, tmp_path: Path) -> None:
    """What kubectl can do there: contract/test_kubectl.py."""
    with subprocess.Popen([COMMAND, "demo", "--serve"], env={}, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        path = next(line for line in demo.stdout if line.startswith("export KUBECONFIG=")).strip().partition("=")[2]

        def kubectl(*args: str) -> str:
            command = [str(control_plane_assets / "kubectl"), "--kubeconfig", path, *args]
            environment = {"HOME": str(tmp_path), "PATH": os.defpath}
            return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

        assert run("once", "--kubeconfig", path).code == 0
        assert "example-takara   3" in kubectl("get", "tk")
        assert "deployment.apps/takara-busybox" in kubectl("get", "deploy,pods")
        kubectl("scale", "tk/example-takara", "--replicas=4")
        assert run("once", "--kubeconfig", path).code == 0
        assert kubectl("get", "deployment", "example-takara", "-o", "jsonpath={.spec.replicas}") == "4"
        demo.send_signal(signal.SIGINT)
        assert demo.wait(timeout=10) == 0
        assert not Path(path).exists()
