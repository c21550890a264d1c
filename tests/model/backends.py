"""The two clusters that the machine runs on: the simulator in this process, and a real control plane."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlencode

import msgspec

from takara_sync.simulator import Controllers, Request, Store
from takara_sync.simulator.kinds import served
from tests.model.client import Got, Json, Sent

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from tests.control_plane.server import ControlPlane

PATHS = {
    "takaras": "/apis/maho.takara.org/v1alpha1",
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "pods": "/api/v1",
}


class Backend(Protocol):
    """One namespace of a cluster. `steady`: nothing moves in it but by what the machine does."""

    namespace: str
    steady: bool

    def send(self, sent: Sent, moment: int = 0) -> Got:
        """One request; a list shows how things were `moment` steps ago."""

    def get(self, plural: str, name: str) -> Json | None: ...

    def all(self, plural: str) -> list[Json]: ...

    def remember(self) -> None:
        """A step is over: its state is what later stale lists can show."""

    def compact(self) -> None:
        """Continue tokens handed out so far answer 410."""

    def tick(self, steps: int) -> None:
        """The controllers work a little."""

    def nodes(self, *, work: bool) -> None:
        """Whether pods become ready."""

    def settle(self) -> None:
        """The controllers do all that they will do, and every pod becomes ready."""

    def path(self, plural: str, name: str = "", subresource: str = "") -> str:
        parts = [PATHS[plural], "namespaces", self.namespace, plural, name, subresource]
        return "/".join(part for part in parts if part)


class Simulated(Backend):
    """The simulator's store, called as a function; the clock is the machine's."""

    steady = True
    namespace = "default"

    def __init__(self, now: Callable[[], datetime], *, schemaless: bool = False) -> None:
        crd: Any = "schemaless" if schemaless else True
        self._store = Store(now=now, crd=crd, seed=0)
        self._kinds = {kind.plural: kind for kind in served(crd=crd)}
        self._controllers = Controllers(self._store.objects)
        self._past: list[Any] = []

    def send(self, sent: Sent, moment: int = 0) -> Got:
        raw = b"" if sent.body is None else msgspec.json.encode(sent.body)
        headers = {"accept": sent.accept, "content-type": sent.content_type}
        request = Request(sent.method, sent.path, sent.query, headers, raw)
        if moment and self._past and not (sent.writes or sent.name):
            return self._stale(request, self._past[-min(moment, len(self._past))])
        answer = self._store.handle(request)
        return Got(answer.status, answer.body)

    def _stale(self, request: Request, held: Any) -> Got:
        objects = self._store.objects
        present, objects._held = objects._held, held
        try:
            answer = self._store.handle(request)
        finally:
            objects._held = present
        return Got(answer.status, answer.body)

    def get(self, plural: str, name: str) -> Json | None:
        return self._store.objects.get(self._kinds[plural], self.namespace, name)

    def all(self, plural: str) -> list[Json]:
        return self._store.objects.all(self._kinds[plural], self.namespace)

    def remember(self) -> None:
        self._past = [*self._past[-5:], {kind: {**held} for kind, held in self._store.objects._held.items()}]

    def compact(self) -> None:
        self._store.expire_tokens()

    def tick(self, steps: int) -> None:
        for _ in range(steps):
            self._controllers.tick()

    def nodes(self, *, work: bool) -> None:
        self._controllers.runs = lambda _: work

    def settle(self) -> None:
        self.nodes(work=True)
        self._controllers.settle()


class Real(Backend):
    """A namespace of a real control plane. Its controllers work when they like; lists are never stale."""

    steady = False

    def __init__(self, server: ControlPlane) -> None:
        self._server = server
        self.namespace = server.namespace()

    def send(self, sent: Sent, moment: int = 0) -> Got:  # noqa: ARG002 - a real list is of the present
        path = quote(sent.path) + (f"?{urlencode(sent.query)}" if sent.query else "")
        answer = self._server.call(sent.method, path, sent.body, content_type=sent.content_type, accept=sent.accept)
        text = isinstance(answer.body, str)
        return Got(answer.status, answer.body.encode() if text else msgspec.json.encode(answer.body))

    def get(self, plural: str, name: str) -> Json | None:
        answer = self._server.call("GET", self.path(plural, name))
        assert answer.status in (200, 404), answer.body
        return dict(answer.body) if answer.status == 200 else None

    def all(self, plural: str) -> list[Json]:
        answer = self._server.call("GET", self.path(plural))
        assert answer.status == 200, answer.body
        return list(answer.body["items"])

    def remember(self) -> None:
        pass

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
