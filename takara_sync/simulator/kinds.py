"""The kinds that the simulator serves, and the Takara's schema, which is read from its CRD."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import yaml

if TYPE_CHECKING:
    from takara_sync.simulator.wire import Json


@dataclass(frozen=True)
class Kind:
    """One kind of object; `model` is the class of the Kubernetes client that knows its fields."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    model: str = ""
    short_names: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ("status",)
    categories: tuple[str, ...] = ()
    tracked: bool = False  # field ownership is kept
    schema: Json = field(default_factory=dict, compare=False)  # of a custom resource
    columns: tuple[Json, ...] = field(default=(), compare=False)
    size_path: tuple[str, ...] = ("spec", "replicas")

    @property
    def api_version(self) -> str:
        """`group/version`, or `v1` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """`plural.group`, as messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def custom(self) -> bool:
        """Whether a CRD defines it."""
        return bool(self.schema)


DEPLOYMENT = Kind(
    "apps",
    "v1",
    "Deployment",
    "deployments",
    model="V1Deployment",
    short_names=("deploy",),
    categories=("all",),
    subresources=("status", "scale"),
    tracked=True,
)
REPLICA_SET = Kind(
    "apps", "v1", "ReplicaSet", "replicasets", model="V1ReplicaSet", short_names=("rs",), categories=("all",)
)
POD = Kind("", "v1", "Pod", "pods", model="V1Pod", short_names=("po",), categories=("all",))
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False, model="V1Namespace", short_names=("ns",))
EVENT = Kind("", "v1", "Event", "events", model="CoreV1Event", short_names=("ev",), subresources=())
_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@cache
def takara() -> Kind:
    """The Takara, as k8s/crd/takara.yaml defines it (in the package through the link takara_sync/k8s)."""
    text = files("takara_sync").joinpath("k8s/crd/takara.yaml").read_text(encoding="utf-8")
    spec: dict[str, Any] = yaml.safe_load(text)["spec"]
    version, names = spec["versions"][0], spec["names"]
    size_path = tuple(version["subresources"]["scale"]["specReplicasPath"].strip(".").split("."))
    return Kind(
        spec["group"],
        version["name"],
        names["kind"],
        names["plural"],
        short_names=tuple(names["shortNames"]),
        subresources=tuple(version["subresources"]),
        tracked=True,
        schema=version["schema"]["openAPIV3Schema"],
        columns=tuple(version["additionalPrinterColumns"]),
        size_path=size_path,
    )


def served(*, crd: bool | Literal["schemaless"] = True) -> tuple[Kind, ...]:
    """All kinds; without the Takara's CRD, or with one that lets everything in, where `crd` says so."""
    custom = replace(takara(), schema=_ANYTHING) if crd == "schemaless" else takara()
    return (DEPLOYMENT, REPLICA_SET, POD, NAMESPACE, EVENT, *((custom,) if crd else ()))
