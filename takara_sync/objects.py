"""The objects that a pass reads from the API server: frozen structs with only the fields that the pass uses.

The decoder skips every other field on purpose. So large lists are cheap, and an unexpected value affects one object
only (see kube.decode).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct

GROUP = "maho.takara.org"
API_VERSION = f"{GROUP}/v1alpha1"
KIND = "Takara"
PLURAL = "takaras"
PAUSED_ANNOTATION = f"{GROUP}/paused"
FIELD_MANAGER = "takara-sync"

NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
"""The API server allows no other name for these objects. A name is therefore safe in a path and on a terminal.

https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names
"""

_Name = Annotated[str, Meta(pattern=rf"^{NAME.pattern}\Z")]
_Uid = Annotated[str, Meta(min_length=1)]  # a JSON patch that tests an empty uid would test nothing
_Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]

T = TypeVar("T")


class Key(NamedTuple):
    """Namespace and name, the same for a Takara and its Deployment. Sorts by namespace, then name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class _Wire(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A part of an API object, with the API's own spelling of field names."""


class OwnerReference(_Wire, frozen=True):
    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ManagedFieldsEntry(_Wire, frozen=True):
    """The fields of a manager. https://kubernetes.io/docs/reference/using-api/server-side-apply/#managed-fields"""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: str | None = None
    fields_type: str = ""
    fields_v1: Raw = msgspec.field(name="fieldsV1", default=Raw(b"{}"))
    subresource: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The fieldsV1 tree; a value that is no object is a leaf."""
        return _tree(msgspec.json.decode(self.fields_v1))


def _tree(value: Any) -> dict[str, Any]:
    return {name: _tree(sub) for name, sub in value.items()} if isinstance(value, dict) else {}


class ObjectMeta(_Wire, frozen=True):
    name: _Name
    namespace: _Name
    uid: _Uid
    resource_version: str = ""
    generation: _Int64 = 0
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None
    managed_fields: tuple[ManagedFieldsEntry, ...] | None = None


class _Object(_Wire, frozen=True):
    metadata: ObjectMeta

    @property
    def key(self) -> Key:
        return Key(self.metadata.namespace, self.metadata.name)

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @property
    def controller(self) -> OwnerReference | None:
        """The controller owner reference; the API server allows at most one."""
        return _controller(self.metadata.owner_references)


def _controller(owners: tuple[OwnerReference, ...] | None) -> OwnerReference | None:
    return next((owner for owner in owners or () if owner.controller), None)


class TakenBy(_Wire, frozen=True):
    """The manager whose replicas we set back last, when, and how often in a row."""

    manager: str
    at: str
    times: int = 1


class AdmissionChange(_Wire, frozen=True):
    """A field that an apply returned with another value; the time of the last apply, and how often in a row."""

    field: str
    at: str
    times: int = 1


class Applied(_Wire, frozen=True):
    """`status.deployment` of a Takara: the record of the last apply."""

    uid: str = ""
    config_hash: str = ""
    fields_hash: str = ""
    format: int = 0
    replicas_taken_by: TakenBy | None = None
    changed_on_admission: AdmissionChange | None = None


class Takara(_Object, frozen=True):
    """A Takara. Spec and status are not decoded: a CRD without a schema accepts any value."""

    spec: Any = None
    status: Any = None

    @property
    def size(self) -> Any:
        """`spec.size`, of any type; `validation.problem_of` says whether it is usable."""
        return self.spec.get("size") if isinstance(self.spec, dict) else None

    @property
    def paused(self) -> bool:
        return (self.metadata.annotations or {}).get(PAUSED_ANNOTATION) == "true"

    @property
    def recorded_status(self) -> dict[str, Any]:
        """The status as it was read; empty if it does not exist or is no object."""
        return self.status if isinstance(self.status, dict) else {}

    @property
    def applied(self) -> Applied:
        """The record of the last apply; empty if it is missing or malformed."""
        try:
            return msgspec.convert(self.recorded_status.get("deployment", {}), Applied)
        except msgspec.ValidationError:
            return Applied()

    @property
    def is_recorded(self) -> bool:
        """Whether the status was written for the current generation."""
        return self.recorded_status.get("observedGeneration") == self.metadata.generation

    def condition(self, kind: str) -> dict[str, str]:
        """The string fields of the recorded condition of this type; empty if it does not exist.

        Other programs may write the status too, so the reason can be any string.
        """
        conditions = self.recorded_status.get("conditions")
        found = (c for c in conditions if isinstance(c, dict)) if isinstance(conditions, list) else iter(())
        named = next((c for c in found if c.get("type") == kind), {})
        return {key: value for key, value in named.items() if isinstance(value, str)}


class _Scale(_Wire, frozen=True):
    replicas: int = 1


class DeploymentCondition(_Wire, frozen=True):
    type: str
    status: str
    reason: str = ""
    message: str = ""


class DeploymentStatus(_Wire, frozen=True):
    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    conditions: tuple[DeploymentCondition, ...] | None = None

    def condition(self, kind: str) -> DeploymentCondition | None:
        return next((c for c in self.conditions or () if c.type == kind), None)


class Deployment(_Object, frozen=True):
    """A Deployment. Its spec is decoded only if something drifted."""

    spec: Raw
    status: DeploymentStatus = DeploymentStatus()

    def __post_init__(self) -> None:
        _ = self.replicas  # a malformed spec fails while decoding, not later in the pass

    @property
    def replicas(self) -> int:
        return msgspec.json.decode(self.spec, type=_Scale).replicas

    @property
    def managed_fields(self) -> tuple[ManagedFieldsEntry, ...]:
        return self.metadata.managed_fields or ()

    def as_manifest(self) -> dict[str, Any]:
        """The live values of the fields that a manifest can set, as plain JSON values."""
        owners = [msgspec.to_builtins(owner) for owner in self.metadata.owner_references or ()]
        metadata = {
            "labels": self.metadata.labels,
            "annotations": self.metadata.annotations,
            "ownerReferences": owners,
        }
        return {"metadata": metadata, "spec": msgspec.json.decode(self.spec)}


class PodMeta(_Wire, frozen=True):
    name: _Name
    namespace: _Name
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None


class Pod(_Wire, frozen=True):
    """The metadata of a pod. The pass requests nothing else, and keeps no part of the response in memory."""

    metadata: PodMeta

    @property
    def controller(self) -> OwnerReference | None:
        return _controller(self.metadata.owner_references)


class Listing(Struct, Generic[T], frozen=True):
    """A complete list: the readable items, and by key one line why another item is not readable."""

    items: tuple[T, ...]
    unread: Mapping[Key, str] = {}


class Snapshot(Struct, frozen=True):
    """All objects for the decisions of a pass. It is complete; if a list fails, the pass ends instead.

    unread: the Takaras without a decision, because they or their Deployment could not be read. Only they fail, and the
    pass does not treat an unread object as not found.
    """

    takaras: tuple[Takara, ...]
    deployments: Mapping[Key, Deployment]
    unread: Mapping[Key, str] = {}
