"""A cluster whose requests are held up: somebody gets in between."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from takara_sync.cluster import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from takara_sync.cluster import Cluster
    from takara_sync.objects import Deployment, Key, Listing, ManagedFieldsEntry, Pod, Takara


class Suspended(Wrapper):
    """Does something ahead of request number `point`, counted from 0; `asked` names the requests so far."""

    def __init__(self, cluster: Cluster, point: int, meanwhile: Callable[[], object]) -> None:
        super().__init__(cluster)
        self._point = point
        self._meanwhile = meanwhile
        self._lock = threading.Lock()
        self.asked: list[str] = []

    def _next(self, verb: str) -> None:
        with self._lock:
            number = len(self.asked)
            self.asked.append(verb)
        if number == self._point:
            self._meanwhile()

    def deployments(self) -> Listing[Deployment]:
        self._next("list deployments")
        return super().deployments()

    def takaras(self) -> Listing[Takara]:
        self._next("list takaras")
        return super().takaras()

    def pods(self) -> Listing[Pod]:
        self._next("list pods")
        return super().pods()

    def deployment(self, key: Key) -> Deployment | None:
        self._next("get deployment")
        return super().deployment(key)

    def takara(self, key: Key) -> Takara | None:
        self._next("get takara")
        return super().takara(key)

    def create(self, body: dict[str, Any]) -> Deployment:
        self._next("create")
        return super().create(body)

    def apply(self, deployment: Deployment, body: dict[str, Any]) -> Deployment:
        self._next("apply")
        return super().apply(deployment, body)

    def take_over(self, deployment: Deployment, managed_fields: Sequence[ManagedFieldsEntry]) -> Deployment:
        self._next("take over")
        return super().take_over(deployment, managed_fields)

    def tell(self, takara: Takara, patch: Sequence[dict[str, Any]]) -> None:
        self._next("tell")
        super().tell(takara, patch)
