"""A small cluster with everything that `status` shows: an installed copy, an autoscaler, a name that is taken.

python -m tests.commands.story    write its output into docs/status.md
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from takara_sync import KubeCluster, sync_once
from takara_sync.cli.last_pass import LastPass
from takara_sync.cli.status import command
from takara_sync.kube.api import Api
from takara_sync.report import Exit
from takara_sync.simulator import Answer, Request, Simulator, Store
from tests.support.command import Done, run
from tests.support.takaras import takara

Json = dict[str, Any]

START = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
_DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
_TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/default/takaras"
_RECORD = "/api/v1/namespaces/takara-system/configmaps/takara-sync"
_POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_ACCOUNT_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
CRONJOBS = "/apis/batch/v1/cronjobs"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


class Cluster(Store):
    """The simulator on a clock of its own, with objects of other kinds. lacking: rights that no account has.

    others: the body, or the code of a refusal, for a GET of a path.
    """

    def __init__(self) -> None:
        self.moment = START
        super().__init__(now=lambda: self.moment, seed=7)
        self.others: dict[str, Any] = {}
        self.lacking: set[str] = set()
        self.record: Json = {"metadata": {"name": "takara-sync"}}

    def handle(self, request: Request) -> Answer:
        if request.path == _RECORD:
            if request.method == "PATCH":
                self.record["data"] = self.record.get("data", {}) | json.loads(request.body)["data"]
            return Answer.of(200, self.record)
        if request.path == _ACCOUNT_REVIEWS:
            return Answer.of(201, {"status": {"allowed": json.loads(request.body)["spec"]["user"] not in self.lacking}})
        found = self.others.get(request.path)
        if isinstance(found, int):
            return Answer.of(found, {"kind": "Status", "message": "you may not", "reason": "Forbidden"})
        if found is not None:
            return Answer.of(200, found)
        return super().handle(request)

    def send(self, method: str, path: str, body: Any = None, kind: str = "application/json", user: str = "one") -> Json:
        answer = self.handle(Request.of(method, path, body, content_type=kind, user=user))
        assert answer.status < 300, answer.body
        found: Json = answer.json()
        return found


class Story:
    """The cluster, and the command on it."""

    def __init__(self, folder: Path, store: Cluster, simulator: Simulator) -> None:
        self.store, self.simulator = store, simulator
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(simulator.kubeconfig())

    def wait(self, **time: float) -> None:
        self.store.moment += timedelta(**time)

    def sync(self) -> None:
        """One pass of the installed copy, which records it."""
        report = sync_once(KubeCluster.connect(str(self.kubeconfig)), now=lambda: self.store.moment, seconds=50)
        with LastPass("takara-system/takara-sync", lambda: Api.connect(str(self.kubeconfig)), 10) as last_pass:
            last_pass.ended(report.__class__(report.outcomes, report.started, 0.3, report.error), Exit.OK)

    def settle(self) -> None:
        self.simulator.controllers.settle()

    def scale(self, name: str, replicas: int) -> None:
        """As a HorizontalPodAutoscaler on the Deployment does it."""
        path = f"{_DEPLOYMENTS}/{name}/scale?fieldManager=kube-controller-manager"
        self.store.send("PATCH", path, {"spec": {"replicas": replicas}}, "application/merge-patch+json")

    def create(self, *takaras: Json) -> None:
        for each in takaras:
            self.store.send("POST", _TAKARAS, each)

    def status(self, *args: str, columns: int = 0) -> Done:
        with mock.patch.object(command, "utcnow", return_value=self.store.moment):
            done = run("status", *args, env={"KUBECONFIG": str(self.kubeconfig)}, columns=columns)
        text = done.stdout.replace(self.simulator.url, "https://203.0.113.7:6443")
        return done._replace(stdout=text.replace(str(self.kubeconfig), "~/.kube/config"))


@contextmanager
def story(folder: Path) -> Iterator[Story]:
    """A cluster in which a HorizontalPodAutoscaler and takara-sync contest the replicas of default/web."""
    store = Cluster()
    with Simulator(store) as simulator:
        told = Story(folder, store, simulator)
        store.others |= _installed()
        _tell(told)
        yield told


def _tell(told: Story) -> None:
    labels = {"app": "billing"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "billing", "image": "billing:1"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    told.store.send("POST", _DEPLOYMENTS, {"metadata": {"name": "billing"}, "spec": spec})
    told.create(takara("api", 2), takara("billing", 4), takara("web", 3))
    for replicas in (3, 7, 7):
        told.sync()
        told.settle()
        told.scale("web", replicas)
        told.wait(minutes=1)
    told.sync()
    told.settle()
    told.create(takara("new", 1))
    told.wait(seconds=40)


def _installed() -> dict[str, Any]:
    """What `takara-sync manifests` installs, as far as `status` looks at it."""
    container = {"name": "takara-sync", "image": "takara-sync:0.1.0", "args": ["--interval=10", "--duration=55s"]}
    pod = {"spec": {"serviceAccountName": "takara-sync", "containers": [container]}}
    meta = {"name": "takara-sync", "namespace": "takara-system", "creationTimestamp": "2026-01-01T11:00:00Z"}
    cronjob = {
        "metadata": meta,
        "spec": {"schedule": "* * * * *", "suspend": False, "jobTemplate": {"spec": {"template": pod}}},
        "status": {"lastScheduleTime": "2026-01-01T12:03:00Z"},
    }
    names = ("takara-sync", "takara-template")
    denying = [{"spec": {"policyName": name, "validationActions": ["Deny"]}} for name in names]
    account = {"kind": "ServiceAccount", "name": "takara-sync", "namespace": "takara-system"}
    labelled = {"name": "takara-sync", "labels": {"app.kubernetes.io/name": "takara-sync"}}
    return {
        CRONJOBS: {"items": [cronjob]},
        f"{_POLICIES}ies": {"items": [{"metadata": {"name": name}, "spec": {}} for name in names]},
        f"{_POLICIES}ybindings": {"items": denying},
        f"{_RBAC}/clusterrolebindings": {"items": [{"metadata": labelled, "subjects": [account]}]},
        f"{_RBAC}/rolebindings": {"items": []},
    }


PAGE = Path(__file__).parents[2] / "docs" / "status.md"


def page(told: Story) -> str:
    """docs/status.md with the output of its two commands."""
    text = PAGE.read_text()
    for args in ("", " web"):
        head, output = f"```console\n$ takara-sync status{args}\n", told.status(*args.split()).stdout
        before, _, rest = text.partition(head)
        text = f"{before}{head}{output}```{rest.partition('```')[2]}"
    return text


if __name__ == "__main__":
    with TemporaryDirectory() as folder, story(Path(folder)) as told:
        PAGE.write_text(page(told))
