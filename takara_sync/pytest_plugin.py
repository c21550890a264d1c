"""The fixture `takara_cluster`: an embedded cluster for tests of your own code. pytest loads it by an entry point.

The large imports happen when a test uses the fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from takara_sync.plan import Policy
    from takara_sync.report import Report
    from takara_sync.simulator import Simulator

_ROOTS = {
    "Takara": "/apis/maho.takara.org/v1alpha1/namespaces/{}/takaras",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "Pod": "/api/v1/namespaces/{}/pods",
}


class TakaraCluster:
    """An embedded cluster with Takaras and Deployments, and with the controllers of Kubernetes.

    url, kubeconfig: the address, for a client, a command or kubectl. simulator: the cluster itself.
    """

    def __init__(self, simulator: Simulator, kubeconfig: Path) -> None:
        self.simulator = simulator
        self.url = simulator.url
        self.kubeconfig = kubeconfig
        kubeconfig.write_text(simulator.kubeconfig())

    def create(self, body: dict[str, Any], namespace: str = "default") -> dict[str, Any]:
        """Create a Takara, Deployment or Pod.

        If the server rejects it, this raises AssertionError with the message of the server. So do all methods here.
        """
        return self._call("POST", _ROOTS[body["kind"]].format(namespace), body)

    def patch(self, kind: str, name: str, body: dict[str, Any], namespace: str = "default") -> dict[str, Any]:
        """Change an object by a merge patch (RFC 7386) and return it."""
        return self._call("PATCH", f"{_ROOTS[kind].format(namespace)}/{name}", body, "application/merge-patch+json")

    def get(self, kind: str, name: str, namespace: str = "default") -> dict[str, Any]:
        """One object. Raises AssertionError if it does not exist."""
        return self._call("GET", f"{_ROOTS[kind].format(namespace)}/{name}")

    def list(self, kind: str, namespace: str = "default") -> list[dict[str, Any]]:
        """Every object of this kind, sorted by name."""
        found: list[dict[str, Any]] = self._call("GET", _ROOTS[kind].format(namespace))["items"]
        return found

    def delete(self, kind: str, name: str, namespace: str = "default") -> None:
        """Delete an object; `settle` deletes its dependents (garbage collection)."""
        self._call("DELETE", f"{_ROOTS[kind].format(namespace)}/{name}")

    def sync(self, policy: Policy | None = None) -> Report:
        """One pass over this cluster."""
        from takara_sync import KubeCluster, Policy, sync_once  # noqa: PLC0415 - not before it is used

        return sync_once(KubeCluster.connect(kubeconfig=str(self.kubeconfig)), policy or Policy())

    def settle(self) -> None:
        """Run the controllers until nothing changes: pods start, garbage is collected."""
        self.simulator.controllers.settle()

    def _call(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> dict[str, Any]:
        from takara_sync.simulator import Request  # noqa: PLC0415 - not before it is used

        answer = self.simulator.store.handle(Request.of(method, path, body, content_type=content_type, user="test"))
        assert answer.status < 300, f"{method} {path}: {answer.body.decode()}"  # noqa: PLR2004 - not a success
        found: dict[str, Any] = answer.json()
        return found


@pytest.fixture
def takara_cluster(tmp_path: Path) -> Iterator[TakaraCluster]:
    """An embedded cluster for one test, on a free port of the loopback address."""
    from takara_sync.simulator import Simulator, Store  # noqa: PLC0415 - not before it is used

    with Simulator(Store()) as simulator:
        yield TakaraCluster(simulator, tmp_path / "kubeconfig")
