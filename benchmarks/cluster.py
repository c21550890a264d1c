"""A fresh control plane with N Takaras, and the controllers and kubelets of the cluster, which this module plays.

There is no controller manager: it would compete with the contestants for the CPUs, with each of them differently. What
it and the kubelets would write is written here, for every contestant at the same pace.
"""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

from benchmarks.process import cpu_of
from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import START_SECONDS, wait_until
from tests.control_plane.workloads import running_status
from tests.server import Request, User

Json = dict[str, Any]

SIZE = 3
NAMESPACE = "default"
TAKARAS = f"/apis/maho.takara.org/v1alpha1/namespaces/{NAMESPACE}/takaras"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_THREADS = 16
_HASH = "5d9c7b8f6d"  # the label pod-template-hash of every pod
_LONG_AGO = "2000-01-01T00:00:00Z"


def name(index: int) -> str:
    """The name of a Takara: 12 characters."""
    return f"takara-{index:05d}"


class Cluster:
    """A control plane with `count` Takaras, until the end of the `with` statement."""

    def __init__(self, assets: Path, count: int) -> None:
        self.count = count
        self._control_plane = ControlPlane(assets, controller_manager=False)

    def __enter__(self) -> Self:
        self._control_plane.__enter__()
        try:
            self._control_plane.wait_for_roles()
            wait_until(self._no_namespace, within=START_SECONDS)
            self._each(self._create_takara, range(self.count))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._control_plane.__exit__(None, None, None)

    # ------------------------------------------------------------------ what contestants need, and what they did

    @property
    def url(self) -> str:
        """The address of the API server."""
        return self._control_plane.url

    def user(self) -> User:
        """A user of its own for each process of a contestant, so that the audit log tells them apart."""
        return self._control_plane.user()

    def requests(self, user: User) -> list[Request]:
        """What the user sent so far."""
        return self._control_plane.requests(user)

    @property
    def api_cpu_s(self) -> float:
        """The CPU time that the API server has used so far, in seconds."""
        return cpu_of(self._control_plane.pids["kube-apiserver"])

    # ------------------------------------------------------------------ users of the cluster

    def resize(self, index: int, size: int) -> None:
        """A user edits the size of a Takara."""
        self._send("PATCH", f"{TAKARAS}/{name(index)}", {"spec": {"size": size}}, _MERGE)

    def scale(self, index: int, replicas: int) -> None:
        """A user scales a Deployment behind the back of the contestant."""
        self._send("PATCH", f"{DEPLOYMENTS}/{name(index)}", {"spec": {"replicas": replicas}}, _MERGE)

    def takaras(self) -> list[Json]:
        """All Takaras."""
        return self._items(TAKARAS)

    def deployments(self) -> list[Json]:
        """All Deployments."""
        return self._items(DEPLOYMENTS)

    # ------------------------------------------------------------------ controllers and kubelets

    def bring_up(self) -> None:
        """Create the pods of every Deployment, then run them."""
        deployments = self.deployments()
        owners = [one for one in deployments for _ in range(SIZE)]
        pods = list(self._each(self._create_pod, zip(owners, itertools.count(), strict=False)))
        self._each(lambda one: self._write_deployment_status(one, ready=0), deployments)
        self._each(self._run_pod, pods)
        self._each(lambda one: self._write_deployment_status(one, ready=SIZE), deployments)

    def observe(self, index: int) -> None:
        """Write the status of one Deployment again, for its present generation."""
        deployment = self._send("GET", f"{DEPLOYMENTS}/{name(index)}")
        self._write_deployment_status(deployment, ready=deployment["spec"]["replicas"])

    def _create_takara(self, index: int) -> None:
        takara = {"apiVersion": "maho.takara.org/v1alpha1", "kind": "Takara", "metadata": {"name": name(index)}}
        self._send("POST", TAKARAS, takara | {"spec": {"size": SIZE}})

    def _create_pod(self, numbered: tuple[Json, int]) -> Json:
        deployment, number = numbered
        template, owner = deployment["spec"]["template"], f"{deployment['metadata']['name']}-{_HASH}"
        reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": deployment["metadata"]["uid"]}
        metadata = {
            "name": f"{owner}-{number % SIZE:05d}",
            "generateName": f"{owner}-",
            "labels": template["metadata"]["labels"] | {"pod-template-hash": _HASH},
            "ownerReferences": [reference | {"controller": True, "blockOwnerDeletion": True}],
        }
        created: Json = self._send("POST", PODS, {"metadata": metadata, "spec": template["spec"]})
        return created

    def _run_pod(self, pod: Json) -> None:
        self._send("PATCH", f"{PODS}/{pod['metadata']['name']}/status", {"status": running_status(pod)}, _STRATEGIC)

    def _write_deployment_status(self, deployment: Json, ready: int) -> None:
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        replicas = deployment["spec"]["replicas"]
        conditions = [
            {"type": kind, "status": str(up), "reason": why, "lastUpdateTime": now, "lastTransitionTime": now}
            for kind, up, why in (
                ("Available", ready == replicas, "MinimumReplicasAvailable"),
                ("Progressing", True, "NewReplicaSetAvailable"),
            )
        ]
        status = {
            "observedGeneration": deployment["metadata"]["generation"],
            "replicas": replicas,
            "updatedReplicas": replicas,
            "readyReplicas": ready,
            "availableReplicas": ready,
            "unavailableReplicas": replicas - ready,
            "conditions": conditions,
        }
        self._send("PATCH", f"{DEPLOYMENTS}/{deployment['metadata']['name']}/status", {"status": status}, _MERGE)

    # ------------------------------------------------------------------ requests

    def _send(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        answer = self._control_plane.call(method, path, body, content_type=content_type)
        if answer.status not in (200, 201):
            raise AssertionError(f"{method} {path}: {answer.status} {answer.body}")
        return answer.body

    def _items(self, path: str) -> list[Json]:
        found: list[Json] = self._send("GET", f"{path}?resourceVersion=0")["items"]
        return found

    def _each(self, work: Callable[[Any], Any], things: Iterable[Any]) -> list[Any]:
        with ThreadPoolExecutor(_THREADS) as pool:
            return list(pool.map(work, things))

    def _no_namespace(self) -> str:
        status = self._control_plane.call("GET", f"/api/v1/namespaces/{NAMESPACE}").status
        return "" if status == 200 else f"namespace {NAMESPACE}: {status}"  # noqa: PLR2004


def by_verb(requests: Iterable[Request]) -> dict[str, int]:
    """How many requests there are of each verb and resource, for example {"list pods": 3}."""
    kinds = ((one.verb, one.resource or "discovery", one.subresource) for one in requests)
    found = Counter(f"{verb} {resource}{'/' * bool(part)}{part}" for verb, resource, part in kinds)
    return dict(sorted(found.items()))


def first_writes(requests: Iterable[Request], resource: str, subresource: str = "") -> dict[str, float]:
    """When the first successful write to each object was answered: names to seconds since 1970."""
    answered: dict[str, float] = {}
    for one in requests:  # in the order in which they came in
        if one.writes and one.code in (200, 201) and (one.resource, one.subresource) == (resource, subresource):
            # A create by POST has its name in the body, and the audit log has no bodies.
            answered.setdefault(one.name or one.received, seconds(one.answered))
    return answered


def seconds(rfc3339: str) -> float:
    """The seconds since 1970."""
    return datetime.datetime.fromisoformat(rfc3339).timestamp()
