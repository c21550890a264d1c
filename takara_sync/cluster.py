"""The boundary between the pass and a cluster: the requests of a pass, and a dry run of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec
from msgspec import structs

from takara_sync.deadline import Deadline
from takara_sync.desired import Manifest, comparable
from takara_sync.diff import changes, leaves, removals
from takara_sync.errors import Conflict
from takara_sync.managed_fields import holds, own_fields
from takara_sync.objects import Deployment, DeploymentMeta, Key, Listing, ManagedFieldsEntry, Pod, PodDetail, Takara


class Cluster(Protocol):
    """The requests of a pass. One object works for any number of passes; each call gets the deadline of its pass.

    Methods raise only the errors of `takara_sync.errors`. A list raises PassStopped if any part of it cannot be read.
    Other methods raise ObjectError, or PassStopped if no further request can succeed. Reads are retried before they
    raise; a write is sent once.
    """

    @property
    def dry_run(self) -> bool:
        """Whether writes change nothing: this program does not send them, or the server does not store them."""

    def deployments(self, deadline: Deadline) -> Listing[Deployment]:
        """Every Deployment that carries our label."""

    def takaras(self, deadline: Deadline) -> Listing[Takara]:
        """Every Takara of the configured namespaces and selector."""

    def pods(self, deadline: Deadline) -> Listing[Pod]:
        """The metadata of every pod with our label, except for Succeeded and Failed pods."""

    def pods_of(self, key: Key, deadline: Deadline) -> tuple[PodDetail, ...]:
        """The pods of one Takara with their status, or the first of them."""

    def deployment(self, key: Key, deadline: Deadline) -> Deployment | None:
        """One Deployment by name; None if it does not exist."""

    def takara(self, key: Key, deadline: Deadline) -> Takara | None:
        """One Takara by name; None if it does not exist."""

    def create(self, manifest: Manifest, deadline: Deadline) -> Deployment:
        """Create a Deployment. Raises Conflict if it exists, NotFound if its namespace does not exist."""

    def apply(self, deployment: Deployment, manifest: Manifest, deadline: Deadline) -> Deployment:
        """Apply `manifest`, which contains the uid and resourceVersion of `deployment`, with force."""

    def take_over(
        self, deployment: Deployment, managed_fields: Sequence[ManagedFieldsEntry], deadline: Deadline
    ) -> Deployment:
        """Replace the managedFields of this Deployment, only if it did not change since the read."""

    def write_status(self, takara: Takara, patch: Sequence[dict[str, Any]], deadline: Deadline) -> None:
        """Send a JSON patch to the status of a Takara."""

    def send_event(self, event: Manifest, deadline: Deadline) -> None:
        """Create an Event of events.k8s.io/v1. Raises Conflict if it exists."""


class DryRun:
    """A cluster that only reads: its writes return what the API server would return, as far as we know it."""

    dry_run = True

    def __init__(self, cluster: Cluster) -> None:
        self.deployments = cluster.deployments
        self.takaras = cluster.takaras
        self.pods = cluster.pods
        self.pods_of = cluster.pods_of
        self.deployment = cluster.deployment
        self.takara = cluster.takara

    def create(self, manifest: Manifest, deadline: Deadline) -> Deployment:
        """The Deployment after a create. Raises Conflict if one exists that the list did not contain."""
        key = Key(manifest["metadata"]["namespace"], manifest["metadata"]["name"])
        if self.deployment(key, deadline) is not None:
            raise Conflict(f"Deployment {key} exists already")
        return Deployment(DeploymentMeta(key.name, key.namespace, uid=""), _raw(manifest["spec"]))

    def apply(self, deployment: Deployment, manifest: Manifest, deadline: Deadline) -> Deployment:  # noqa: ARG002
        """The Deployment after an apply: with another resourceVersion if a value changes."""
        if _is_no_op(deployment, manifest):
            return deployment
        labels, annotations = (_raw(manifest["metadata"].get(name)) for name in ("labels", "annotations"))
        metadata = structs.replace(
            deployment.metadata, resource_version="", managed_fields=_raw(None), labels=labels, annotations=annotations
        )
        return structs.replace(deployment, metadata=metadata, spec=_raw(manifest["spec"]))

    def take_over(
        self,
        deployment: Deployment,
        managed_fields: Sequence[ManagedFieldsEntry],  # noqa: ARG002
        deadline: Deadline,  # noqa: ARG002
    ) -> Deployment:
        """The unchanged Deployment: a take-over changes no value."""
        return deployment

    def write_status(self, takara: Takara, patch: Sequence[dict[str, Any]], deadline: Deadline) -> None:
        """A dry run writes no status."""

    def send_event(self, event: Manifest, deadline: Deadline) -> None:
        """A dry run sends no Event."""


def _is_no_op(deployment: Deployment, manifest: Manifest) -> bool:
    """Whether an apply of `manifest` would change no value, and would give us no more fields."""
    wanted, live, entries = comparable(manifest), deployment.as_manifest(), deployment.managed_fields
    if changes(wanted, live, entries) or removals(wanted, live, entries):
        return False
    ours = own_fields(entries)
    return all(holds(ours, path) for path, _ in leaves(wanted))


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
