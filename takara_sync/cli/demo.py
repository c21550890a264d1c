"""`takara-sync demo`: the whole story on an embedded cluster. No Kubernetes, no containers, no network.

Each command that it shows is run as a process of its own. What it did is compared with what the story says: its exit
code, which Deployments it changed, and the sizes of all of them. A surprise ends the demo loudly.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from takara_sync.cli.render import aligned
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.errors import ConfigurationError, TakaraSyncError
from takara_sync.report import Exit
from takara_sync.simulator import Request, Simulator, Store

_TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/default/takaras"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_TICK_SECONDS = 0.2


class Surprise(TakaraSyncError):
    """Something in the demo was not as its story says."""

    default_hint = "The demo is a test as well: please report this, with what is printed above."


class _Over(Exception):
    """A signal asked for the end of the story."""


# ------------------------------------------------------------------ the story


class _Step(NamedTuple):
    """What people do, what a command makes of it, and what is then so. The controllers move before the command.

    people: requests, as method, path and body. command: of takara-sync, none where it is empty. changed: the
    Deployments that the command changes. sizes: those of all Deployments afterwards. settled: the command finds nothing
    to do. shows: a table at the end.
    """

    says: str = ""
    people: Sequence[tuple[str, str, Any]] = ()
    command: str = "once"
    code: Exit = Exit.OK
    changed: Sequence[str] = ()
    sizes: Mapping[str, int] = {}
    settled: bool = False
    shows: str = ""


def _samples() -> list[tuple[str, str, Any]]:
    """Requests that create the Takaras of k8s/examples."""
    text = files("takara_sync").joinpath("k8s", "examples", "takaras.yaml").read_text()
    return [("POST", _TAKARAS, takara) for takara in yaml.safe_load_all(text)]


def _billing() -> list[tuple[str, str, Any]]:
    """Requests that create a Deployment, and a Takara of the same name."""
    labels = {"app": "billing"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "billing", "image": "billing:1"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    head = {"metadata": {"name": "billing"}}
    return [
        ("POST", _DEPLOYMENTS, head | {"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}),
        ("POST", _TAKARAS, head | {"apiVersion": "maho.takara.org/v1alpha1", "kind": "Takara", "spec": {"size": 4}}),
    ]


def _story() -> list[_Step]:
    both = {"example-takara": 3, "takara-busybox": 10}
    scale = f"{_DEPLOYMENTS}/example-takara/scale?fieldManager=kubectl"
    return [
        _Step(
            "# An embedded cluster: no Kubernetes, no containers, no network. Two Takaras arrive.",
            _samples(),
            command="",
            shows="takaras",
        ),
        _Step(changed=list(both), sizes=both),
        _Step("\n# The pods start, and the next pass tells what it sees.", sizes=both, shows="takaras"),
        _Step(
            "\n# Once more: nothing has drifted.",
            sizes=both,
            settled=True,
        ),
        _Step("# What the server was asked: 3 lists, 0 writes.", command=""),
        _Step(
            "\n# Somebody scales a Deployment by hand: kubectl scale deployment/example-takara --replicas=7",
            [("PATCH", scale, {"spec": {"replicas": 7}})],
            command="plan",
            code=Exit.FAILED,
            sizes=both | {"example-takara": 7},
        ),
        _Step("# Exit code 1: changes are pending. Nothing is written by a plan; a pass heals it.", command=""),
        _Step(changed=["example-takara"], sizes=both),
        _Step(
            "\n# A Takara arrives whose name a Deployment of somebody else's has already.",
            _billing(),
            code=Exit.BLOCKED,
            sizes=both | {"billing": 1},
        ),
        _Step("# Exit code 6: a person has to decide. The Deployment was not touched in any field.", command=""),
        _Step(
            "\n# The Takaras billing and takara-busybox are deleted; garbage collection takes what was theirs.",
            [("DELETE", f"{_TAKARAS}/{name}", None) for name in ("billing", "takara-busybox")],
            sizes={"billing": 1, "example-takara": 3},
            shows="deployments",
        ),
        _Step(
            "\n# That is all. Your own cluster: takara-sync plan. This one, to play with: takara-sync demo --serve",
            command="",
        ),
    ]


# ------------------------------------------------------------------ telling it


def run(settings: Settings, stop: Stop) -> Exit:
    """Tell the story, or with --serve keep an embedded cluster up until a signal asks for the end.

    Raises:
        Surprise: a step did not go as the story says.
        ConfigurationError: there is no temporary folder for the kubeconfig.
    """
    try:
        temporary = tempfile.TemporaryDirectory(prefix="takara-sync-demo-")
    except OSError as error:
        raise ConfigurationError(f"There is no writable temporary folder: {error.strerror}", "Set TMPDIR.") from error
    with temporary as folder, contextlib.suppress(_Over):
        kubeconfig = Path(folder) / "kubeconfig"
        with Simulator(Store(seed=7), tick_every=_TICK_SECONDS if settings.serve else None) as cluster:
            kubeconfig.write_text(cluster.kubeconfig())
            demo = _Demo(cluster, kubeconfig, stop)
            if settings.serve:
                demo.serve()
            else:
                for step in _story():
                    demo.tell(step)
    return Exit.OK


class _Demo:
    def __init__(self, cluster: Simulator, kubeconfig: Path, stop: Stop) -> None:
        self._cluster = cluster
        self._kubeconfig = kubeconfig
        self._stop = stop

    def serve(self) -> None:
        for request in _samples():
            self._send(*request)
        _say(f"# An embedded cluster with two Takaras. From another terminal:\nexport KUBECONFIG={self._kubeconfig}")
        _say("takara-sync once\nkubectl get takaras    # everything but a watch\n# Ctrl-C ends it.")
        self._stop.wait(threading.TIMEOUT_MAX)

    def tell(self, step: _Step) -> None:
        """One step of the story. Raises Surprise where it goes otherwise, _Over after a signal."""
        _say(step.says)
        for request in step.people:
            self._send(*request)
        if step.command:
            self._cluster.controllers.settle()
            before = self._deployments()
            self._cluster.store.requests.clear()
            self._run(step.command, step.code)
            methods = [one.request.method for one in self._cluster.store.requests if one.user == "demo"]
            _must(not step.settled or methods == ["GET"] * 3, "a pass over a converged cluster is three lists")
            after = self._deployments()
            changed = [name for name, deployment in after.items() if deployment != before.get(name)]
            _must(changed == list(step.changed), f"Deployments changed: {step.changed}, not {changed}")
            sizes = {name: deployment["spec"]["replicas"] for name, deployment in after.items()}
            _must(sizes == step.sizes, f"the sizes are {step.sizes}, not {sizes}")
        if step.shows:
            self._show(step.shows)

    def _run(self, command: str, code: Exit) -> None:
        _say(f"\n$ takara-sync {command}")
        environment = {
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "KUBECONFIG": str(self._kubeconfig),
            "TAKARA_SYNC_LOG_FORMAT": "text",  # as on a terminal, which a pipe is not
            "TAKARA_SYNC_LOG_LEVEL": "warning",
        }
        argv = [sys.executable, "-m", "takara_sync", command]
        done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
        _say(done.stdout.rstrip())
        if self._stop.asked:
            raise _Over
        _must(done.returncode == code, f"takara-sync {command} ends with {int(code)}, not {done.returncode}")

    def _deployments(self) -> dict[str, Any]:
        return {each["metadata"]["name"]: each for each in self._send("GET", _DEPLOYMENTS)["items"]}

    def _show(self, resource: str) -> None:
        """The table that kubectl would print."""
        table = self._send("GET", _TAKARAS if resource == "takaras" else _DEPLOYMENTS, accept=_TABLE)
        columns = [n for n, column in enumerate(table["columnDefinitions"]) if column.get("priority", 0) == 0]
        lines = [[table["columnDefinitions"][n]["name"].upper() for n in columns]]
        lines += [["" if row["cells"][n] is None else str(row["cells"][n]) for n in columns] for row in table["rows"]]
        _say(f"\n# The {resource.capitalize()}:\n" + "\n".join(aligned(lines)))

    def _send(self, method: str, path: str, body: Any = None, accept: str = "application/json") -> Any:
        """A request of somebody else's. Raises Surprise where it is refused."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = Request.of(method, path, body, content_type=kind, accept=accept, user="somebody")
        answer = self._cluster.store.handle(request)
        _must(answer.status < 300, f"{method} {path} succeeds: {answer.status} {answer.body[:300]!r}")  # noqa: PLR2004 - the first status that is no success
        return answer.json()


def _must(holds: bool, what: str) -> None:
    if not holds:
        raise Surprise(f"It does not hold that {what}")


def _say(text: str) -> None:
    if text:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
