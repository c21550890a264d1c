"""What is read from the API server: frozen structs that hold only the fields the pass uses.

Decoding is narrow on purpose: what is not named here is skipped by the decoder, which is what makes
large lists cheap, and one object with a surprising value costs only itself (see kube.decode).
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
"""The API server lets no object of a pass have another name; so it is safe in a path and on a terminal.

https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names
"""

_Name = Annotated[str, Meta(pattern=rf"^{NAME.pattern}\Z")]
_Uid = Annotated[str, Meta(min_length=1)]  # an empty one would test nothing
_Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]

T = TypeVar("T")


class Key(NamedTuple):
    """Namespace and name: what a Takara and its Deployment have in common. Sorts as it reads."""

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
    """Who holds which fields. https://kubernetes.io/docs/reference/using-api/server-side-apply/#managed-fields"""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: str | None = None
    fields_type: str = ""
    fields_v1: Raw = msgspec.field(name="fieldsV1", default=Raw(b"{}"))
    subresource: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The fieldsV1 tree; a branch that is no object is a leaf."""
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
        """The owner that manages this object; the API server lets there be one at most."""
        return _controller(self.metadata.owner_references)


def _controller(owners: tuple[OwnerReference, ...] | None) -> OwnerReference | None:
    return next((owner for owner in owners or () if owner.controller), None)


class TakenBy(_Wire, frozen=True):
    """A contest over the replicas: from whom they were taken back last, when, and how often in a row."""

    manager: str
    at: str
    times: int = 1


class Applied(_Wire, frozen=True):
    """`status.deployment` of a Takara: what the last apply left behind."""

    uid: str = ""
    config_hash: str = ""
    fields_hash: str = ""
    format: int = 0
    replicas_taken_by: TakenBy | None = None


class Takara(_Object, frozen=True):
    """A Takara. Spec and status stay as they came: a CRD without schema lets anything in."""

    spec: Any = None
    status: Any = None

    @property
    def size(self) -> Any:
        """`spec.size`, whatever it is; `plan.problem_of` says whether it can be used."""
        return self.spec.get("size") if isinstance(self.spec, dict) else None

    @property
    def paused(self) -> bool:
        return (self.metadata.annotations or {}).get(PAUSED_ANNOTATION) == "true"

    @property
    def told(self) -> dict[str, Any]:
        """The status as last written, empty where there is none or it is no object."""
        return self.status if isinstance(self.status, dict) else {}

    @property
    def applied(self) -> Applied:
        """What the last apply recorded; empty where nothing usable is recorded."""
        try:
            return msgspec.convert(self.told.get("deployment", {}), Applied)
        except msgspec.ValidationError:
            return Applied()

    def condition(self, kind: str) -> dict[str, Any]:
        """The condition of this type as last written, empty where there is none."""
        conditions = self.told.get("conditions")
        found = (c for c in conditions if isinstance(c, dict)) if isinstance(conditions, list) else iter(())
        return next((c for c in found if c.get("type") == kind), {})


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
    """A Deployment. The spec stays as it came, and is looked into only where something drifted."""

    spec: Raw
    status: DeploymentStatus = DeploymentStatus()

    def __post_init__(self) -> None:
        _ = self.replicas  # a spec that cannot be used is found out while decoding, not in the middle of a pass

    @property
    def replicas(self) -> int:
        return msgspec.json.decode(self.spec, type=_Scale).replicas

    @property
    def managed_fields(self) -> tuple[ManagedFieldsEntry, ...]:
        return self.metadata.managed_fields or ()

    def as_body(self) -> dict[str, Any]:
        """The live values of the fields that a desired body can hold, as plain JSON values."""
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
    """A pod's metadata; nothing else of it is asked for, and no part of the answer is kept alive by it."""

    metadata: PodMeta

    @property
    def controller(self) -> OwnerReference | None:
        return _controller(self.metadata.owner_references)


class Listing(Struct, Generic[T], frozen=True):
    """A whole list: what could be read, and why the rest could not (by key, one line each)."""

    items: tuple[T, ...]
    unread: Mapping[Key, str] = {}


class Snapshot(Struct, frozen=True):
    """What a pass decides on: complete, or the pass has ended.

    `unread` holds the Takaras that cannot be decided because they or their Deployment could not be
    read: they fail by themselves and nothing of theirs is taken for absent.
    """

    takaras: tuple[Takara, ...]
    deployments: Mapping[Key, Deployment]
    unread: Mapping[Key, str] = {}
