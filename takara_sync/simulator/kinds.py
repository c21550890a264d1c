"""The kinds that the simulator serves; `schemas` has the schemas of the built-in ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from takara_sync.simulator.schemas import schema_of
from takara_sync.simulator.wire import Json, Refusal

_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
_PHASE = {"name": "Status", "type": "string", "jsonPath": ".status.phase"}


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of object.

    model: the class of the Kubernetes client that knows the fields of a built-in kind. crd: the schema of a custom one.
    first: the status of a new object. columns: as additionalPrinterColumns of a CRD. size_field: of the spec.
    unowned: the part of a new object whose creator does not own it.
    """

    group: str
    version: str
    kind: str
    plural: str
    short_name: str
    model: str = ""
    namespaced: bool = True
    subresources: tuple[str, ...] = ("status",)
    crd: Json = field(default_factory=dict)
    first: Json = field(default_factory=dict)
    unowned: Json = field(default_factory=dict)
    columns: tuple[Json, ...] = field(default=(_AGE,))
    size_field: str = "replicas"

    @property
    def api_version(self) -> str:
        """`group/version`, or `v1` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """`plural.group`, as messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def has_owners(self) -> bool:
        """Whether its objects have managedFields here, and can be applied."""
        return "scale" in self.subresources

    @property
    def schema(self) -> Json:
        """What its objects may look like."""
        return self.crd or schema_of(self.model)

    def details(self, name: str, causes: Iterable[Json] = ()) -> Json:
        """The `details` of a Status: the resource, in the plural, and what is wrong with it."""
        found: Json = {"name": name, "group": self.group, "kind": self.plural, "causes": list(causes)}
        return {key: item for key, item in found.items() if item}

    def refusal(self, code: int, reason: str, name: str, why: str, causes: Iterable[Json] = ()) -> Refusal:
        """A refusal about one object, or about all of the kind where the name is empty."""
        what = f'{self.resource} "{name}"' if name else self.resource
        return Refusal(code, reason, f"{what} {why}", self.details(name, causes))

    def invalid(self, name: str, causes: list[Json]) -> Refusal:
        """422, with one cause for each mistake."""
        words = dict.fromkeys(f"{found['field']}: {found['message']}" for found in causes)
        return self.refusal(422, "Invalid", name, f"is invalid: {', '.join(words)}", causes)


DEPLOYMENT = Kind(
    group="apps",
    version="v1",
    kind="Deployment",
    plural="deployments",
    short_name="deploy",
    model="V1Deployment",
    subresources=("status", "scale"),
    first={"status": {}},
    unowned={
        "metadata": {},
        "spec": {"strategy": {}, "template": {"metadata": {}, "spec": {"containers": []}}},
        "status": {},
    },
    columns=(
        {"name": "Ready", "type": "string", "jsonPath": ".status.readyReplicas/.spec.replicas"},
        {"name": "Up-to-date", "type": "integer", "jsonPath": ".status.updatedReplicas"},
        {"name": "Available", "type": "integer", "jsonPath": ".status.availableReplicas"},
        _AGE,
    ),
)
REPLICA_SET = Kind("apps", "v1", "ReplicaSet", "replicasets", "rs", "V1ReplicaSet", first={"status": {"replicas": 0}})
POD = Kind("", "v1", "Pod", "pods", "po", "V1Pod", first={"status": {"phase": "Pending"}}, columns=(_PHASE, _AGE))
NAMESPACE = Kind(
    *("", "v1", "Namespace", "namespaces", "ns", "V1Namespace"),
    namespaced=False,
    first={"status": {"phase": "Active"}},
    columns=(_PHASE, _AGE),
)


@cache
def takara(*, schemaless: bool = False) -> Kind:
    """The Takara, as k8s/crd/takara.yaml defines it (in the package through the link takara_sync/k8s)."""
    text = files("takara_sync").joinpath("k8s/crd/takara.yaml").read_text(encoding="utf-8")
    spec: dict[str, Any] = yaml.safe_load(text)["spec"]
    version, names = spec["versions"][0], spec["names"]
    schema: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {}}
    if not schemaless:
        schema = version["schema"]["openAPIV3Schema"]
    schema["properties"]["metadata"] = schema_of("V1ObjectMeta")
    return Kind(
        *(spec["group"], version["name"], names["kind"], names["plural"], names["shortNames"][0]),
        subresources=tuple(version["subresources"]),
        crd=schema,
        columns=tuple(version["additionalPrinterColumns"]),
        size_field=version["subresources"]["scale"]["specReplicasPath"].rpartition(".")[2],
    )


def served(*, crd: bool | Literal["schemaless"] = True) -> tuple[Kind, ...]:
    """All kinds; `crd`: with the Takara, without it, or with one whose CRD has no schema and lets everything in."""
    custom = (takara(schemaless=crd == "schemaless"),) if crd else ()
    return (DEPLOYMENT, REPLICA_SET, POD, NAMESPACE, *custom)
