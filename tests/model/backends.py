"""The two clusters that the machine runs on: the simulator in this process, and a real control plane."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from datetime import datetime

import msgspec

from takara_sync.kube.connection import Connection
from takara_sync.kube.response import Response
from takara_sync.kube.transport import HttpTransport
from takara_sync.simulator import Controllers, Snapshot, Store
from tests.control_plane.server import ControlPlane
from tests.model.requests import Sent
from tests.support.takaras import Json
from tests.support.transport import InProcess

PATHS = {
    "takaras": "/apis/maho.takara.org/v1alpha1",
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "pods": "/api/v1",
}


class Namespace:
    """One namespace of a cluster. `steady`: nothing moves in it but by what the machine does."""

    namespace = "default"
    steady = False

    def path(self, plural: str, name: str = "", subresource: str = "") -> str:
        parts = [PATHS[plural], "namespaces", self.namespace, plural, name, subresource]
        return "/".join(part for part in parts if part)

    def remember(self) -> None:
        """A step is over: its state is what later stale lists can show."""


class Simulated(Namespace):
    """The simulator's store, called as a function; the clock is the machine's."""

    steady = True

    def __init__(self, now: Callable[[], datetime], *, schemaless: bool = False) -> None:
        self._store = Store(now=now, crd="schemaless" if schemaless else True, seed=0)
        self._transport = InProcess(self._store.handle)
        self._kinds = {kind.plural: kind for kind in self._store.kinds}
        self._controllers = Controllers(self._store)
        self._past: list[Snapshot] = []

    def send(self, sent: Sent, moment: int = 0) -> Response:
        """One request; a list shows how things were `moment` steps ago."""
        if not moment or not self._past or sent.writes or sent.name:
            return self._transport.send(sent, 1)
        present = self._store.snapshot()
        self._store.restore(self._past[-min(moment, len(self._past))])
        try:
            return self._transport.send(sent, 1)
        finally:
            self._store.restore(present)

    def get(self, plural: str, name: str) -> Json | None:
        return self._store.get(self._kinds[plural], self.namespace, name)

    def all(self, plural: str) -> list[Json]:
        return self._store.all(self._kinds[plural], self.namespace)

    def remember(self) -> None:
        self._past = [*self._past[-5:], self._store.snapshot()]

    def compact(self) -> None:
        """Continue tokens handed out so far answer 410."""
        self._store.continuations.clear()

    def tick(self, steps: int) -> None:
        for _ in range(steps):
            self._controllers.tick()

    def nodes(self, *, work: bool) -> None:
        """Whether pods become ready."""
        self._controllers.runs = lambda _: work

    def settle(self) -> None:
        self.nodes(work=True)
        self._controllers.settle()


class Real(Namespace):
    """A namespace of a real control plane. Its controllers work when they like; lists are never stale."""

    def __init__(self, server: ControlPlane) -> None:
        self._server = server
        self._transport = HttpTransport(Connection(str(server.user().kubeconfig)))
        self.namespace = server.namespace()

    def send(self, sent: Sent, moment: int = 0) -> Response:  # noqa: ARG002 - a real list is of the present
        return self._transport.send(sent, 60)

    def get(self, plural: str, name: str) -> Json | None:
        response = self.send(Sent("GET", self.path(plural, name)))
        assert response.status in (200, 404), response.body
        return dict(msgspec.json.decode(response.body)) if response.status == 200 else None

    def all(self, plural: str) -> list[Json]:
        response = self.send(Sent("GET", self.path(plural)))
        assert response.status == 200, response.body
        return list(msgspec.json.decode(response.body)["items"])

    def compact(self) -> None:
        self._server.compact()

    def tick(self, steps: int) -> None:
        time.sleep(0.02 * steps)

    def nodes(self, *, work: bool) -> None:
        if work:
            self.settle()

    def settle(self) -> None:
        """A rollout ends only where pods become ready, so these come first; what goes meanwhile is no matter."""
        for one in self.all("deployments"):
            if "deletionTimestamp" not in one["metadata"] and not self._orphaned(one):
                with contextlib.suppress(AssertionError):
                    self._server.make_ready(self.namespace, one["metadata"]["name"])
        self._server.settle(self.namespace)

    def _orphaned(self, one: Json) -> bool:
        """Whether garbage collection is about to take it."""
        owners = one["metadata"].get("ownerReferences", [])
        uids = {takara["metadata"]["uid"] for takara in self.all("takaras")}
        return bool(owners) and not any(owner["uid"] in uids for owner in owners)


Backend = Simulated | Real
