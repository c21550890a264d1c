"""The objects that a pass reads from the API server: frozen structs with only the fields that the pass uses.

The decoder skips every other field on purpose. So large lists are cheap, and an unexpected value affects one object
only (see kube.decode). A part that only some Takaras need is kept as JSON (`Raw`) and decoded when it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from sys import intern
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct, structs

from takara_sync.text import one_line, shortened

GROUP = "maho.takara.org"
API_VERSION = f"{GROUP}/v1alpha1"
KIND = "Takara"
PLURAL = "takaras"
PAUSED_ANNOTATION = f"{GROUP}/paused"
FORMAT_ANNOTATION = f"{GROUP}/format"
FIELD_MANAGER = "takara-sync"

_NOT_PAUSED = frozenset({"false", "no", "off", "0", ""})
_CLEAR = _NOT_PAUSED | {"true", "yes", "on", "1"}

NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
"""The API server allows no other name for these objects. A name is therefore safe in a path and on a terminal.

https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names
"""

_Name = Annotated[str, Meta(pattern=rf"^{NAME.pattern}\Z")]
_Uid = Annotated[str, Meta(min_length=1)]  # a JSON patch that tests an empty uid would test nothing
_Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]

T = TypeVar("T")

_NULL = Raw(b"null")


class Key(NamedTuple):
    """Namespace and name, the same for a Takara and its Deployment. Sorts by namespace, then name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class _Wire(Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A part of an API object, with the API's own spelling of field names. gc=False: JSON has no reference cycles."""


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


class _Annotations(_Wire, frozen=True):
    paused: Any = msgspec.field(name=PAUSED_ANNOTATION, default="")


class TakaraMeta(ObjectMeta, frozen=True):
    """Without annotations but `paused`: a tenant may give every Takara 256 KiB of them."""

    labels: dict[str, str] | None = None
    annotations: _Annotations | None = None


class DeploymentMeta(ObjectMeta, frozen=True):
    labels: Raw = _NULL
    annotations: Raw = _NULL
    owner_references: Raw = _NULL
    managed_fields: Raw = _NULL


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


def _controller(owners: tuple[OwnerReference, ...] | None) -> OwnerReference | None:
    """The controller owner reference; the API server allows at most one."""
    return next((owner for owner in owners or () if owner.controller), None)


def _keep(part: Struct, *names: str) -> None:
    """Copy JSON that is a view into the response, so that the whole response does not stay in memory."""
    for name in names:
        structs.force_setattr(part, name, getattr(part, name).copy())


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
    format: int = 0
    replicas_taken_by: TakenBy | None = None
    changed_on_admission: AdmissionChange | None = None


class _Record(_Wire, frozen=True):
    deployment: Applied = Applied()


class _Recorded(_Wire, frozen=True):
    observed_generation: Any = None
    conditions: Raw = _NULL
    cause_for: Any = None


class Takara(_Object, frozen=True):
    """A Takara. Spec and status are not validated: a CRD without a schema accepts any value."""

    metadata: TakaraMeta
    spec: Any = None
    status: Raw = _NULL

    def __post_init__(self) -> None:
        _keep(self, "status")

    @property
    def size(self) -> Any:
        """`spec.size`, of any type; `validation.problem_of` says whether it is usable."""
        return self.spec.get("size") if isinstance(self.spec, dict) else None

    @property
    def paused(self) -> bool:
        """Whether the annotation pauses this Takara. An unknown word pauses too, because a pause protects something."""
        return str(self._pause).strip().lower() not in _NOT_PAUSED

    @property
    def unclear_pause(self) -> str:
        """What is wrong with the annotation, and what to do; empty for a known word."""
        if str(self._pause).strip().lower() in _CLEAR:
            return ""
        shown = shortened(one_line(str(self._pause)), 40)
        return (
            f'The annotation {PAUSED_ANNOTATION} is "{shown}", which counts as paused. Set it to "true", or remove it.'
        )

    @property
    def _pause(self) -> Any:
        return "" if self.metadata.annotations is None else self.metadata.annotations.paused

    @property
    def recorded_status(self) -> dict[str, Any]:
        """The status as it was read; empty if it does not exist or is no object."""
        status = msgspec.json.decode(self.status)
        return status if isinstance(status, dict) else {}

    @property
    def _recorded(self) -> _Recorded:
        try:
            return msgspec.json.decode(self.status, type=_Recorded)
        except msgspec.ValidationError:
            return _Recorded()

    @property
    def applied(self) -> Applied:
        """The record of the last apply; empty if it is missing or malformed."""
        try:
            return msgspec.json.decode(self.status, type=_Record).deployment
        except msgspec.ValidationError:
            return Applied()

    @property
    def is_recorded(self) -> bool:
        """Whether the status was written for the current generation."""
        return bool(self._recorded.observed_generation == self.metadata.generation)

    @property
    def cause_for(self) -> str:
        """The state of the Deployment for which the recorded cause was found; see `causes.state_of`."""
        found = self._recorded.cause_for
        return found if isinstance(found, str) else ""

    @property
    def conditions(self) -> list[dict[str, Any]]:
        """The recorded conditions. Other programs may write the status too, so their fields can have any value."""
        conditions = msgspec.json.decode(self._recorded.conditions)
        return [each for each in conditions if isinstance(each, dict)] if isinstance(conditions, list) else []

    def condition(self, kind: str) -> dict[str, str]:
        """The string fields of the recorded condition of this type; empty if it does not exist."""
        named = next((each for each in self.conditions if each.get("type") == kind), {})
        return {key: value for key, value in named.items() if isinstance(value, str)}


class _Scale(_Wire, frozen=True):
    replicas: int = 1
    paused: bool = False


class _Selected(_Wire, frozen=True):
    selector: Any = None


class Condition(_Wire, frozen=True):
    """A condition of a Deployment or a pod."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class DeploymentStatus(_Wire, frozen=True):
    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    conditions: Raw = _NULL

    @property
    def all_conditions(self) -> tuple[Condition, ...]:
        return msgspec.json.decode(self.conditions, type=tuple[Condition, ...] | None) or ()

    def condition(self, kind: str) -> Condition | None:
        """The condition of this type; None if there is none."""
        return next((each for each in self.all_conditions if each.type == kind), None)


class Deployment(_Object, frozen=True):
    """A Deployment. Most of it is decoded only if something drifted."""

    metadata: DeploymentMeta
    spec: Raw
    status: DeploymentStatus = DeploymentStatus()
    replicas: int = 1  # of the spec, decoded once; the JSON has no such field here
    paused: bool = False  # likewise; `kubectl rollout pause`

    def __post_init__(self) -> None:
        scale = msgspec.json.decode(self.spec, type=_Scale)
        structs.force_setattr(self, "replicas", scale.replicas)
        structs.force_setattr(self, "paused", scale.paused)
        _keep(self, "spec")
        _keep(self.metadata, "labels", "annotations", "owner_references", "managed_fields")
        if self.is_complete:  # its conditions say only that nothing is missing
            structs.force_setattr(self.status, "conditions", _NULL)
        _keep(self.status, "conditions")

    def without_manifest(self) -> Deployment:
        """The part that a status needs. The rest is much larger, and a pass keeps thousands of Deployments."""
        meta = self.metadata
        metadata = DeploymentMeta(meta.name, meta.namespace, meta.uid, meta.resource_version, meta.generation)
        if self.paused:  # a status says who paused it
            metadata = structs.replace(metadata, managed_fields=meta.managed_fields)
        return Deployment(metadata, Raw(msgspec.json.encode(_Scale(self.replicas, self.paused))), self.status)

    @property
    def selector(self) -> Any:
        """`spec.selector`, as JSON."""
        return msgspec.json.decode(self.spec, type=_Selected).selector

    @property
    def is_complete(self) -> bool:
        """Whether the Deployment controller has seen this generation, and all replicas are up to date and available."""
        seen = self.status
        return (
            seen.observed_generation == self.metadata.generation
            and self.replicas == seen.replicas == seen.updated_replicas == seen.available_replicas
        )

    @property
    def controller(self) -> OwnerReference | None:
        """The controller owner reference."""
        return _controller(self.owners)

    @property
    def managed_fields(self) -> tuple[ManagedFieldsEntry, ...]:
        return _MANAGED_FIELDS.decode(self.metadata.managed_fields) or ()

    @property
    def owners(self) -> tuple[OwnerReference, ...]:
        return _OWNERS.decode(self.metadata.owner_references) or ()

    def as_manifest(self) -> dict[str, Any]:
        """The live values of the fields that a manifest can set, as plain JSON values."""
        metadata = {
            "labels": msgspec.json.decode(self.metadata.labels),
            "annotations": msgspec.json.decode(self.metadata.annotations),
            "ownerReferences": [msgspec.to_builtins(owner) for owner in self.owners],
        }
        return {"metadata": metadata, "spec": msgspec.json.decode(self.spec)}


# Made once: msgspec keeps what it learns of a struct, but not of a union.
_OWNERS = msgspec.json.Decoder(tuple[OwnerReference, ...] | None)
_MANAGED_FIELDS = msgspec.json.Decoder(tuple[ManagedFieldsEntry, ...] | None)


class _PodLabels(_Wire, frozen=True):
    takara_cr: str = msgspec.field(name="takara_cr", default="")
    template_hash: str = msgspec.field(name="pod-template-hash", default="")


class PodMeta(_Wire, frozen=True):
    name: _Name
    namespace: _Name
    deletion_timestamp: str | None = None
    labels: _PodLabels | None = None
    owner_references: tuple[OwnerReference, ...] | None = None


class PodItem(_Wire, frozen=True):
    """The metadata of a pod. The pass requests nothing else."""

    metadata: PodMeta

    def pod(self) -> Pod:
        """What the pass keeps of it."""
        owner, labels = _controller(self.metadata.owner_references), self.metadata.labels or _PodLabels()
        of_replica_set = owner is not None and owner.kind == "ReplicaSet" and owner.api_version.startswith("apps/")
        return Pod(
            self.metadata.name,
            intern(self.metadata.namespace),
            intern(labels.takara_cr),
            intern(labels.template_hash),
            intern(owner.name) if owner is not None and of_replica_set else "",
            self.metadata.deletion_timestamp is not None,
        )


class Pod(Struct, frozen=True, gc=False):
    """A pod. takara_cr, template_hash: its labels. replica_set: the name of its controller, if that is a ReplicaSet."""

    name: str
    namespace: str
    takara_cr: str = ""
    template_hash: str = ""
    replica_set: str = ""
    deleting: bool = False

    def belongs_to(self, deployment: str) -> bool:
        """Whether the Deployment of this name made it, and it is not being deleted.

        A stray has the right labels, but its controller is not a ReplicaSet of the Deployment. The name of such a
        ReplicaSet is the name of the Deployment, a dash, and the label `pod-template-hash` of its pods.
        """
        name = f"{deployment[: _REPLICA_SET_NAME_MAX - len(self.template_hash)]}-{self.template_hash}"
        return not self.deleting and self.replica_set == name


_REPLICA_SET_NAME_MAX = 252  # of name and hash; the Deployment controller shortens the name


class Waiting(_Wire, frozen=True):
    reason: str = ""
    message: str = ""


class Terminated(_Wire, frozen=True):
    exit_code: int = 0
    reason: str = ""


class ContainerState(_Wire, frozen=True):
    waiting: Waiting | None = None
    terminated: Terminated | None = None


class ContainerStatus(_Wire, frozen=True):
    """https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-states"""

    name: str
    image: str = ""
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class PodStatus(_Wire, frozen=True):
    conditions: tuple[Condition, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None


class PodDetailMeta(PodMeta, frozen=True):
    creation_timestamp: str = ""


class PodDetail(PodItem, frozen=True):
    """A pod with its status. A pass reads it only to find out why a Takara is not Ready."""

    metadata: PodDetailMeta
    status: PodStatus = PodStatus()


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
