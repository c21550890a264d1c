"""The boundary between the pass and a cluster: what a pass asks for, the dry run as a wrapper, the deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import structs

from takara_sync.changes import changes, leaves, removals
from takara_sync.desired import comparable
from takara_sync.errors import Changed, CutShort
from takara_sync.fields import holds, own_fields
from takara_sync.objects import Deployment, Key, Listing, ManagedFieldsEntry, ObjectMeta, Pod, Takara

_RESERVE = 0.3  # of the time of a pass: for the pods and the statuses of what was changed


class Deadline:
    """When a pass has to be over: after `seconds`, or at once when somebody calls `stop`.

    Time is read from `clock` in seconds; monotonic, so that a jump of the wall clock changes nothing.
    """

    def __init__(self, seconds: float = float("inf"), clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds
        self._stopped = threading.Event()
        self._why = ""

    def stop(self, why: str) -> None:
        """End the pass as soon as the requests in hand are done; to be called from any thread, not from a handler."""
        self._why = self._why or why
        self._stopped.set()

    def left(self) -> float:
        """Seconds until the pass has to be over, 0 when it has."""
        return 0.0 if self._stopped.is_set() else self.left_for_requests()

    def left_for_requests(self) -> float:
        """Seconds that a request in hand still has: a stop lets it finish."""
        return max(0.0, self._end - self._clock())

    @property
    def stopped(self) -> bool:
        """Whether somebody asked for the end."""
        return self._stopped.is_set()

    def nearly_over(self) -> bool:
        """Whether what is left is needed to tell what was done: then nothing new is begun."""
        return self.left() < _RESERVE * self.seconds

    def check(self) -> None:
        """Raise CutShort where the pass has to be over."""
        if self._stopped.is_set():
            raise CutShort(f"The pass was cut short by {self._why}", "The next pass goes on from there.")
        if self.left() <= 0:
            raise CutShort(f"The pass was cut short by its deadline of {self.seconds:g} s")

    def wait(self, seconds: float) -> None:
        """Sleep, but no longer than the pass has left, and no longer than until a stop."""
        self._stopped.wait(max(0.0, min(seconds, self.left(), threading.TIMEOUT_MAX)))


class Cluster(Protocol):
    """What a pass needs of a cluster. Methods raise the errors of `takara_sync.errors`, nothing else.

    Lists raise PassStopped when any part of them cannot be had; everything else raises ObjectError,
    or PassStopped where no request can succeed any more.
    """

    @property
    def deadline(self) -> Deadline: ...

    @property
    def dry_run(self) -> bool:
        """Whether writes are only pretended, here or by the server."""

    def deployments(self) -> Listing[Deployment]:
        """Every Deployment that carries our label."""

    def takaras(self) -> Listing[Takara]:
        """Every Takara of the namespaces and the selector in question."""

    def pods(self) -> Listing[Pod]:
        """The metadata of every pod with our label that has not ended."""

    def deployment(self, key: Key) -> Deployment | None:
        """One Deployment by name; None where there is none."""

    def takara(self, key: Key) -> Takara | None:
        """One Takara by name; None where there is none."""

    def create(self, body: dict[str, Any]) -> Deployment:
        """Make a Deployment; Changed where there is one already."""

    def apply(self, deployment: Deployment, body: dict[str, Any]) -> Deployment:
        """Apply `body`, which carries the uid and resourceVersion of `deployment`, with force."""

    def take_over(self, deployment: Deployment, managed_fields: Sequence[ManagedFieldsEntry]) -> Deployment:
        """Replace the managedFields of exactly this Deployment as it was read."""

    def tell(self, takara: Takara, patch: Sequence[dict[str, Any]]) -> None:
        """Patch the status of a Takara."""


class Wrapper:
    """A cluster around another one, to change a part of what it does."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def deadline(self) -> Deadline:
        return self._cluster.deadline

    @property
    def dry_run(self) -> bool:
        return self._cluster.dry_run

    def deployments(self) -> Listing[Deployment]:
        return self._cluster.deployments()

    def takaras(self) -> Listing[Takara]:
        return self._cluster.takaras()

    def pods(self) -> Listing[Pod]:
        return self._cluster.pods()

    def deployment(self, key: Key) -> Deployment | None:
        return self._cluster.deployment(key)

    def takara(self, key: Key) -> Takara | None:
        return self._cluster.takara(key)

    def create(self, body: dict[str, Any]) -> Deployment:
        return self._cluster.create(body)

    def apply(self, deployment: Deployment, body: dict[str, Any]) -> Deployment:
        return self._cluster.apply(deployment, body)

    def take_over(self, deployment: Deployment, managed_fields: Sequence[ManagedFieldsEntry]) -> Deployment:
        return self._cluster.take_over(deployment, managed_fields)

    def tell(self, takara: Takara, patch: Sequence[dict[str, Any]]) -> None:
        self._cluster.tell(takara, patch)


class DryRun(Wrapper):
    """A cluster that only answers: reads go through, writes are pretended."""

    @property
    def dry_run(self) -> bool:
        return True

    def create(self, body: dict[str, Any]) -> Deployment:
        """What a create would leave. Raises Changed where there is a Deployment that the list did not hold."""
        key = Key(body["metadata"]["namespace"], body["metadata"]["name"])
        if self._cluster.deployment(key) is not None:
            raise Changed(f"Deployment {key} exists already")
        return Deployment(ObjectMeta(key.name, key.namespace, uid=""), _raw(body["spec"]))

    def apply(self, deployment: Deployment, body: dict[str, Any]) -> Deployment:
        """The Deployment as an apply would leave it: with another resourceVersion where a value changes."""
        if _as_it_is(deployment, body):
            return deployment
        metadata = structs.replace(deployment.metadata, resource_version="", managed_fields=())
        return structs.replace(deployment, metadata=metadata, spec=_raw(body["spec"]))

    def take_over(self, deployment: Deployment, managed_fields: Sequence[ManagedFieldsEntry]) -> Deployment:  # noqa: ARG002
        """The Deployment as it is: whose the fields are shows in no value of it."""
        return deployment

    def tell(self, takara: Takara, patch: Sequence[dict[str, Any]]) -> None:
        """Nothing is told in a dry run."""


def _as_it_is(deployment: Deployment, body: dict[str, Any]) -> bool:
    """Whether an apply of `body` would change no value and hand us no field."""
    wanted, live, entries = comparable(body), comparable(deployment.as_body()), deployment.managed_fields
    if changes(wanted, live, entries) or removals(wanted, live, entries):
        return False
    ours = own_fields(entries)
    return all(holds(ours, path) for path, _ in leaves(wanted))


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
