"""A cluster with nodes, as the tests see it: through kubectl and `takara-sync manifests`, as a user would."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.control_plane.build import assets
from tests.control_plane.waiting import wait_until
from tests.server import Finished
from tests.tool import COMMAND

INSTALLED_IN = "takara-system"
# A day that comes every fourth year: Jobs are made by the tests.
NEVER = "--schedule=0 0 29 2 *"
_OURS = ("--namespace", INSTALLED_IN)
_SECONDS = 60
_SETTLE_SECONDS = 60.0


class Cluster:
    """The cluster of a kubeconfig (None: as kubectl finds it); image: None for the manifests' own."""

    def __init__(self, kubeconfig: str | None, image: str | None) -> None:
        self._environment = {**os.environ, **({"KUBECONFIG": kubeconfig} if kubeconfig else {})}
        self._kubectl = shutil.which("kubectl") or str((assets() or Path()) / "kubectl")
        self._image = () if image is None else (f"--image={image}",)

    def kubectl(self, *args: str, stdin: str | None = None, check: bool = True) -> Finished:
        """Raises CommandError, with both outputs in it, if the code is not 0 and check is on."""
        return self._run(self._kubectl, *args, stdin=stdin, check=check)

    def get(self, *args: str) -> dict[str, Any]:
        """What `kubectl get` finds."""
        found: dict[str, Any] = json.loads(self.kubectl("get", *args, "--output=json").stdout)
        return found

    def items(self, *args: str) -> list[dict[str, Any]]:
        """What `kubectl get` lists."""
        return list(self.get(*args)["items"])

    def apply(self, *objects: dict[str, Any], namespace: str) -> None:
        """Applies objects made by a test."""
        documents = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        self.kubectl("apply", f"--namespace={namespace}", "--server-side", "--filename=-", stdin=documents)

    def manifests(self, *flags: str) -> str:
        """What `takara-sync manifests` prints."""
        return self._run(COMMAND, "manifests", *self._image, *flags).stdout

    @contextlib.contextmanager
    def installed(self, *flags: str) -> Iterator[None]:
        """takara-sync, as a user installs it; its workload is gone at the end, and with it all of its pods."""
        self.kubectl("apply", "--server-side", "--filename=-", stdin=self.manifests(*flags))
        self.kubectl("wait", "--for=condition=Established", "crd/takaras.maho.takara.org", "--timeout=30s")
        try:
            yield
        finally:
            self.kubectl("delete", *_OURS, "cronjobs,deployments,jobs", "--all", "--cascade=foreground")
            wait_until(self._pods_left, within=_SETTLE_SECONDS, every=0.2)

    def uninstall(self) -> None:
        """Everything goes, the Takara API too; it is the cluster's business when."""
        self.kubectl("delete", "--ignore-not-found", "--wait=false", "--filename=-", stdin=self.manifests())

    @contextlib.contextmanager
    def namespace(self, prefix: str = "test") -> Iterator[str]:
        """A namespace of the test's own."""
        name = f"{prefix}-{secrets.token_hex(5)}"
        self.kubectl("create", "namespace", name)
        try:
            yield name
        finally:
            self.kubectl("delete", "takaras", "--all", f"--namespace={name}", "--ignore-not-found")
            self.kubectl("delete", "namespace", name, "--wait=false")

    def job_from_cronjob(self, changes: dict[str, Any] | None = None) -> str:
        """Runs the CronJob's Job now, with changes to its container; returns its name when it has ended."""
        name = f"now-{secrets.token_hex(5)}"
        create = ["create", "job", name, "--from=cronjob/takara-sync", *_OURS]
        job = json.loads(self.kubectl(*create, "--dry-run=client", "--output=json").stdout)
        job["spec"]["template"]["spec"]["containers"][0].update(changes or {})
        self.kubectl("create", "--filename=-", stdin=json.dumps(job))
        wait_until(lambda: self._unfinished(name), within=_SETTLE_SECONDS, every=0.2)
        return name

    def result_of(self, job: str) -> tuple[str, dict[str, Any], str]:
        """A finished Job's verdict (Complete or Failed), its pod's terminated state and its log."""
        conditions = self.get("job", job, *_OURS)["status"]["conditions"]
        (verdict,) = (one["type"] for one in conditions if one["type"] in {"Complete", "Failed"})
        (pod,) = self.items("pods", *_OURS, f"--selector=batch.kubernetes.io/job-name={job}")
        terminated = pod["status"]["containerStatuses"][0]["state"]["terminated"]
        return verdict, terminated, self.kubectl("logs", *_OURS, f"job/{job}").stdout

    def _unfinished(self, job: str) -> str:
        found = self.get("job", job, *_OURS)
        conditions = found["status"].get("conditions", [])
        finished = any(one["type"] in {"Complete", "Failed"} for one in conditions)
        return "" if finished else f"{job} has not ended: {found['status']}"

    def _pods_left(self) -> str:
        return " ".join(pod["metadata"]["name"] for pod in self.items("pods", *_OURS))

    def _run(self, *command: str, stdin: str | None = None, check: bool = True) -> Finished:
        done = subprocess.run(
            command,
            env=self._environment,
            input=stdin or "",
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        finished = Finished(command, done.returncode, done.stdout, done.stderr)
        return finished.check() if check else finished


def condition(one: dict[str, Any], kind: str) -> dict[str, Any]:
    """The object's condition of a type, {} where it has none."""
    conditions = one.get("status", {}).get("conditions", [])
    return next((found for found in conditions if found["type"] == kind), {})
