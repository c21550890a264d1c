"""`takara-sync demo`: the whole story on an embedded cluster. No Kubernetes, no containers, no network.

Each command it shows is run, as a process of its own, and its exit code is looked at. What people and controllers
of a cluster do in between is told in a line beginning with "#". A surprise ends the demo loudly.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import yaml

from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.errors import ConfigurationError, TakaraSyncError
from takara_sync.report import Exit
from takara_sync.simulator import Answer, Request, Simulator, Store

_TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/default/takaras"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_MERGE = "application/merge-patch+json"
_TICK_SECONDS = 0.2


class Surprise(TakaraSyncError):
    """Something in the demo was not as its story tells it."""

    default_hint = "The demo is a test as well: please report this, with what is printed above."


def run(settings: Settings, stop: Stop) -> Exit:
    """Tell the story, or with --serve keep an embedded cluster up until somebody says stop.

    Raises:
        Surprise: a step did not go as told.
        ConfigurationError: there is no temporary folder for the kubeconfig.
    """
    try:
        temporary = tempfile.TemporaryDirectory(prefix="takara-sync-demo-")
    except OSError as error:
        raise ConfigurationError(f"There is no writable temporary folder: {error.strerror}", "Set TMPDIR.") from error
    with temporary as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        if settings.serve:
            return _serve(kubeconfig, stop)
        with Simulator(Store(seed=7)) as cluster:
            kubeconfig.write_text(cluster.kubeconfig())
            _Story(cluster, kubeconfig, stop).tell()
    return Exit.OK


def _serve(kubeconfig: Path, stop: Stop) -> Exit:
    with Simulator(Store(), tick_every=_TICK_SECONDS) as cluster:
        kubeconfig.write_text(cluster.kubeconfig())
        for takara in _samples():
            _send(cluster, "POST", _TAKARAS, takara)
        _print(f"# An embedded cluster with two Takaras. From another terminal:\nexport KUBECONFIG={kubeconfig}")
        _print("takara-sync once\nkubectl get takaras    # everything but a watch\n# Ctrl-C ends it.")
        while not stop.asked:
            stop.wait(float("inf"))
    return Exit.OK


def _samples() -> list[dict[str, Any]]:
    text = files("takara_sync").joinpath("k8s", "examples", "takaras.yaml").read_text()
    return list(yaml.safe_load_all(text))


def _send(cluster: Simulator, method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
    """A request of somebody else's. Raises Surprise where it is refused."""
    path, _, query = path.partition("?")
    asked = dict(pair.split("=") for pair in query.split("&")) if query else {}
    sent = {"content-type": "application/json", "authorization": "Bearer somebody"} | headers
    answer: Answer = cluster.handle(
        Request(method, path, asked, sent, b"" if body is None else msgspec.json.encode(body))
    )
    if answer.status >= 300:  # noqa: PLR2004 - the first status that is no success
        raise Surprise(f"{method} {path} was answered {answer.status}: {answer.body[:300]!r}")
    found: dict[str, Any] = msgspec.json.decode(answer.body)
    return found


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class _Story:
    def __init__(self, cluster: Simulator, kubeconfig: Path, stop: Stop) -> None:
        self._cluster = cluster
        self._stop = stop
        self._environment = {
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "KUBECONFIG": str(kubeconfig),
            "TAKARA_SYNC_LOG_FORMAT": "text",  # as on a terminal, which a pipe is not
            "TAKARA_SYNC_LOG_LEVEL": "warning",
        }

    def tell(self) -> None:
        for chapter in self._chapters():
            if self._stop.asked:
                return
            chapter()
        _print("\n# That is all. Your own cluster: takara-sync plan. This one, to play with: takara-sync demo --serve")

    def _chapters(self) -> list[Callable[[], None]]:
        return [self._arrive, self._nothing_to_do, self._drift, self._strangers, self._leave]

    def _arrive(self) -> None:
        _print("# An embedded cluster: no Kubernetes, no containers, no network. Two Takaras arrive.")
        for takara in _samples():
            self._do("POST", _TAKARAS, takara)
        self._show("takaras")
        self._run("once")
        self._must(self._replicas("example-takara") == 3, "example-takara has 3 replicas")  # noqa: PLR2004
        _print("\n# The pods start, and the next pass tells what it sees.")
        self._cluster.settle()
        self._run("once")
        self._show("takaras")

    def _nothing_to_do(self) -> None:
        _print("\n# Once more: nothing has drifted.")
        self._cluster.store.requests.clear()
        self._run("once")
        asked = [request for request in self._cluster.store.requests if request.user == "demo"]
        lists, writes = (sum(request.method == method for request in asked) for method in ("GET", "PATCH"))
        self._must((lists, writes, len(asked)) == (3, 0, 3), "a pass over a converged cluster is three lists")
        _print(f"# What the server was asked: {lists} lists, {writes} writes.")

    def _drift(self) -> None:
        _print("\n# Somebody scales a Deployment by hand: kubectl scale deployment/example-takara --replicas=7")
        scale = f"{_DEPLOYMENTS}/example-takara/scale?fieldManager=kubectl"
        self._do("PATCH", scale, {"spec": {"replicas": 7}}, **{"content-type": _MERGE})
        self._run("plan", expect=Exit.FAILED)
        _print("# Exit code 1: changes are pending. Nothing is written by a plan; a pass heals it.")
        self._run("once")
        self._must(self._replicas("example-takara") == 3, "the hand-made size is gone")  # noqa: PLR2004

    def _strangers(self) -> None:
        _print("\n# A Takara arrives whose name a Deployment of somebody else's has already.")
        labels = {"app": "billing"}
        pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "billing", "image": "billing:1"}]}}
        body = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
        self._do("POST", _DEPLOYMENTS, _object("apps/v1", "Deployment", "billing", body))
        before = self._do("GET", f"{_DEPLOYMENTS}/billing")
        self._do("POST", _TAKARAS, _object("maho.takara.org/v1alpha1", "Takara", "billing", {"size": 4}))
        self._run("once", expect=Exit.BLOCKED)
        self._must(self._do("GET", f"{_DEPLOYMENTS}/billing") == before, "the stranger was not touched")
        _print("# Exit code 6: a person has to decide. The Deployment was not touched in any field.")

    def _leave(self) -> None:
        _print("\n# The Takaras billing and takara-busybox are deleted; garbage collection takes what was theirs.")
        for name in ("billing", "takara-busybox"):
            self._do("DELETE", f"{_TAKARAS}/{name}")
        self._cluster.settle()
        self._run("once")
        self._show("deployments")
        names = {one["metadata"]["name"] for one in self._do("GET", _DEPLOYMENTS)["items"]}
        self._must(names == {"billing", "example-takara"}, "only what belonged to a deleted Takara is gone")

    # -------------------------------------------------------------- steps

    def _do(self, method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
        return _send(self._cluster, method, path, body, **headers)

    def _replicas(self, name: str) -> int:
        replicas: int = self._do("GET", f"{_DEPLOYMENTS}/{name}")["spec"]["replicas"]
        return replicas

    def _must(self, holds: bool, what: str) -> None:
        if not holds:
            raise Surprise(f"It does not hold that {what}")

    def _run(self, *args: str, expect: Exit = Exit.OK) -> None:
        """Show a command and run it. Raises Surprise where it ends with another code."""
        _print(f"\n$ takara-sync {' '.join(args)}")
        command = [sys.executable, "-m", "takara_sync", *args]
        done = subprocess.run(command, env=self._environment, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
        _print(done.stdout.rstrip())
        if done.returncode != expect and not self._stop.asked:
            raise Surprise(f"takara-sync {' '.join(args)} ended with {done.returncode} instead of {int(expect)}")

    def _show(self, resource: str) -> None:
        """The table that kubectl would print."""
        path = _TAKARAS if resource == "takaras" else _DEPLOYMENTS
        table = self._do("GET", path, accept=_TABLE)
        columns = [n for n, column in enumerate(table["columnDefinitions"]) if column.get("priority", 0) == 0]
        lines = [[table["columnDefinitions"][n]["name"].upper() for n in columns]]
        lines += [[_cell(row["cells"][n]) for n in columns] for row in table["rows"]]
        widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
        _print(f"\n# The {resource.capitalize()}:")
        for line in lines:
            _print("   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _object(api_version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _cell(value: Any) -> str:
    return "" if value is None else str(value)
