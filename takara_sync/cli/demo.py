"""`takara-sync demo`: a story on an embedded cluster. No Kubernetes, no containers, no network.

Each command of the story runs as a process of its own. The demo prints its output, its exit code and its requests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import yaml

from takara_sync.cli.render import aligned, write
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.report import Exit
from takara_sync.simulator import Request, Simulator, Store

_TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/default/takaras"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


# ------------------------------------------------------------------ the story


class _Step(NamedTuple):
    """A text, requests of users, a command, and a table, in this order. Each may be empty.

    requests: method, path and body. command: of takara-sync; the controllers run before it. table: the path of the list
    that kubectl would print.
    """

    text: str = ""
    requests: Sequence[tuple[str, str, Any]] = ()
    command: str = ""
    table: str = ""


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
    scale = f"{_DEPLOYMENTS}/example-takara/scale?fieldManager=kubectl"
    return [
        _Step(
            "# An embedded cluster: no Kubernetes, no containers, no network. A user creates two Takaras.",
            _samples(),
            table=_TAKARAS,
        ),
        _Step(command="once"),
        _Step("\n# The pods start. The next pass writes their number to the statuses.", command="once", table=_TAKARAS),
        _Step("\n# Nothing has changed since: three lists, and no write.", command="once"),
        _Step(
            "\n# A user scales a Deployment: kubectl scale deployment/example-takara --replicas=7",
            [("PATCH", scale, {"spec": {"replicas": 7}})],
            "plan",
        ),
        _Step("\n# Changes are pending. A plan writes nothing. The next pass repairs it.", command="once"),
        _Step(
            "\n# A user creates a Takara, but somebody else's Deployment has this name already.",
            _billing(),
            "once",
        ),
        _Step("\n# A person has to decide. takara-sync did not write that Deployment."),
        _Step(
            "\n# A user deletes the Takaras billing and takara-busybox. Kubernetes deletes what they own.",
            [("DELETE", f"{_TAKARAS}/{name}", None) for name in ("billing", "takara-busybox")],
            "once",
            table=_DEPLOYMENTS,
        ),
        _Step("\n# The end. For your own cluster: takara-sync plan. To try this one: takara-sync demo --serve"),
    ]


# ------------------------------------------------------------------ the command


def run(settings: Settings, stop: Stop) -> Exit:
    """Print the story, or with --serve keep an embedded cluster up until a signal."""
    cluster = Simulator(Store(seed=7), tick_every=0.2 if settings.serve else None)
    with TemporaryDirectory(prefix="takara-sync-demo-") as folder, cluster:
        kubeconfig = Path(folder) / "kubeconfig"
        kubeconfig.write_text(cluster.kubeconfig())
        if settings.serve:
            _serve(cluster, kubeconfig, stop)
        else:
            _tell(cluster, kubeconfig, stop)
    return Exit.OK


def _serve(cluster: Simulator, kubeconfig: Path, stop: Stop) -> None:
    for request in _samples():
        _send(cluster, *request)
    write(f"# An embedded cluster with two Takaras. In another terminal:\nexport KUBECONFIG={kubeconfig}\n")
    write("takara-sync once\nkubectl get takaras    # everything except watches\n# Ctrl-C ends it.\n")
    stop.wait(threading.TIMEOUT_MAX)


def _tell(cluster: Simulator, kubeconfig: Path, stop: Stop) -> None:
    for step in _story():
        if step.text:
            write(f"{step.text}\n")
        for request in step.requests:
            _send(cluster, *request)
        if step.command:
            cluster.controllers.settle()
            _run(cluster, kubeconfig, step.command)
        if stop.asked:
            break
        if step.table:
            _show(cluster, step.table)


def _run(cluster: Simulator, kubeconfig: Path, command: str) -> None:
    """Run a command, and print what it did."""
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "KUBECONFIG": str(kubeconfig),
        "TAKARA_SYNC_LOG_FORMAT": "text",  # as on a terminal; here stderr may be a pipe
        "TAKARA_SYNC_LOG_LEVEL": "warning",
    }
    argv = [sys.executable, "-m", "takara_sync", command]
    cluster.store.requests.clear()
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    sys.stderr.write(done.stderr)
    methods = Counter(one.request.method for one in cluster.store.requests if one.user == "demo")
    sent = ", ".join(f"{count} {method}" for method, count in sorted(methods.items()))
    write(f"\n$ takara-sync {command}\n{done.stdout}# Exit code {done.returncode}. Requests: {sent}.\n")


def _show(cluster: Simulator, path: str) -> None:
    """The table that kubectl would print."""
    table = _send(cluster, "GET", path, accept=_TABLE)
    columns = [n for n, column in enumerate(table["columnDefinitions"]) if column.get("priority", 0) == 0]
    lines = [[table["columnDefinitions"][n]["name"].upper() for n in columns]]
    lines += [["" if row["cells"][n] is None else str(row["cells"][n]) for n in columns] for row in table["rows"]]
    title = path.rpartition("/")[2].capitalize()
    write(f"\n# The {title}:\n" + "\n".join(aligned(lines)) + "\n")


def _send(cluster: Simulator, method: str, path: str, body: Any = None, accept: str = "application/json") -> Any:
    """Send the request of a user; the body of the response."""
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    return cluster.store.handle(
        Request.of(method, path, body, content_type=kind, accept=accept, user="somebody")
    ).json()
