"""Pid 1 of the node: starts the parts, then pytest, and ends with its code; then the kernel ends everything.

`python -m tests.node.inside <folder> [pytest's arguments]`, in namespaces of its own (see machine.namespaces).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import urllib3.exceptions

from tests.control_plane.build import assets
from tests.control_plane.http import Http
from tests.control_plane.processes import Processes, StartError
from tests.control_plane.waiting import START_SECONDS, wait_until
from tests.node import parts
from tests.node.credentials import Credentials, make_credentials
from tests.node.images import Images
from tests.node.machine import PreparationError, own_namespaces, run
from tests.node.timing import say

ROOT = Path(__file__).parents[2]


class Node:
    """A control plane, a registry and a kubelet with containerd, on 10.0.0.1 and 10.0.1.1 of this network."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self._folder = folder
        self._binaries = binaries
        self._processes = Processes(folder)

    def start(self) -> Credentials:
        """Returns when the node is Ready and has the images. Raises StartError, PreparationError or TimeoutError."""
        who = make_credentials(self._folder)
        self._start("etcd", parts.etcd(self._folder))
        self._start("kube-apiserver", parts.api_server(who))
        self._processes.start("docker-registry", parts.registry(self._folder), os.environ)
        self._processes.start("containerd", parts.containerd(self._folder), os.environ)
        api = Http(parts.API_URL, who.keys.authority)
        headers = {"Authorization": f"Bearer {who.users.harness.token}"}
        self._wait(lambda: _unready(api, "/readyz", headers))
        self._start("kube-controller-manager", parts.controller_manager(who))
        self._start("kube-scheduler", parts.scheduler(who))
        self._start("kubelet", parts.kubelet(self._folder, who, self._folder.name))
        Images(self._folder).push(parts.REGISTRY)
        self._wait(lambda: _node_unready(api, headers))
        # Its controller is one of the last to come; without it no pod is let in.
        self._wait(lambda: _unready(api, "/api/v1/namespaces/default/serviceaccounts/default", headers))
        api.close()
        return who

    def watch_over(self, tests: subprocess.Popen[bytes]) -> int:
        """Returns the tests' code, and reaps whatever ends meanwhile, as pid 1 has to; a part must not end."""
        parts_of_the_node = {pid: name for name, pid in self._processes.pids.items()}
        while True:
            pid, status = os.wait()
            if pid == tests.pid:
                return os.waitstatus_to_exitcode(status)
            if name := parts_of_the_node.get(pid):
                code = os.waitstatus_to_exitcode(status)
                raise StartError(f"{name} ended with code {code} under the tests\n{self._processes.tails(name)}")

    def logs(self) -> str:
        """The ends of all logs."""
        return self._processes.tails()

    def _start(self, part: str, flags: list[str]) -> None:
        self._processes.start(part, [str(self._binaries / part), *flags], os.environ)

    def _wait(self, missing: Callable[[], str]) -> None:
        def checked() -> str:
            self._processes.check()
            return missing()

        wait_until(checked, within=START_SECONDS, every=0.05)


def isolate(folder: Path, kept: list[Path]) -> None:
    """Makes a machine of these namespaces: nothing that is written below /var and /run reaches the real one.

    kept: what has to be seen at its place even if that is below /var.
    """
    (folder / "namespaces").write_text("\n".join(own_namespaces()))
    run("mount", "--make-rshared", "/")  # mounts for pods have to reach the pods
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    below = [path for path in kept if path.is_relative_to("/var")]
    for number, path in enumerate(below):
        (Path("/run/kept") / str(number)).mkdir(parents=True)
        run("mount", "--rbind", path, f"/run/kept/{number}")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/var")
    for number, path in enumerate(below):
        path.mkdir(parents=True)
        run("mount", "--rbind", f"/run/kept/{number}", path)
    for name in ("lib", "log", "tmp"):
        Path("/var", name).mkdir(exist_ok=True)
    Path("/var/run").symlink_to("/run")
    run("ip", "link", "set", "lo", "up")
    for address in (parts.API_ADDRESS, parts.NODE_ADDRESS):
        run("ip", "address", "add", f"{address}/32", "dev", "lo")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def main(folder: Path, pytest_arguments: list[str]) -> int:
    """pytest's exit code, or 1 when there was no node to run it on."""
    binaries = assets()
    assert binaries is not None  # run.py has seen to it
    isolate(folder, [ROOT, folder, Path(sys.prefix), Path(sys.base_prefix), binaries])
    node = Node(folder, binaries.resolve())
    try:
        who = node.start()
        say("the node is Ready and has the images")
        environment = {
            **os.environ,
            "KUBECONFIG": str(who.users.harness.kubeconfig),
            "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        }
        command = [sys.executable, "-m", "pytest", "tests/node", "-m", "node", "--cluster", "current"]
        command += pytest_arguments
        return node.watch_over(subprocess.Popen(command, cwd=ROOT, env=environment))
    except TimeoutError as error:
        sys.stderr.write(f"{node.logs()}\n{error}\n")
    except (PreparationError, StartError) as error:  # with the log of what failed
        sys.stderr.write(f"{error}\n")
    return 1


def _unready(api: Http, path: str, headers: dict[str, str]) -> str:
    try:
        answer = api.call("GET", path, headers=headers)
    except urllib3.exceptions.HTTPError as error:
        return f"the API server does not answer: {error}"
    return "" if answer.status == 200 else f"{path}: {answer.status} {answer.body}"


def _node_unready(api: Http, headers: dict[str, str]) -> str:
    answer = api.call("GET", f"/api/v1/nodes/{parts.NODE}", headers=headers)
    conditions = answer.body.get("status", {}).get("conditions", [])
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return "" if ready else f"the node is not Ready: {json.dumps(conditions)}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
