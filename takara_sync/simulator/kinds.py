"""The kinds that the simulator serves, and their schemas: the Takara's from its CRD, the others' from the client."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml

from takara_sync.list_keys import KEYS
from takara_sync.simulator.wire import Json, Refusal

ITEM_KEYS, PRESERVE = "x-kubernetes-list-map-keys", "x-kubernetes-preserve-unknown-fields"
_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
_PHASE = {"name": "Status", "type": "string", "jsonPath": ".status.phase"}


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of object.

    model: the class of the Kubernetes client that knows the fields of a built-in kind. crd: the schema of a custom one.
    first: the status of a new object. columns: as additionalPrinterColumns of a CRD. size_field: of the spec.
    applicable: whether its objects have managedFields, and can be applied. unowned: the part of a new object whose
    creator does not own it.
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
    applicable: bool = False

    @property
    def api_version(self) -> str:
        """`group/version`, or `v1` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """`plural.group`, as messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

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
    applicable=True,
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
EVENT = Kind("events.k8s.io", "v1", "Event", "events", "ev", "EventsV1Event", subresources=())
NAMESPACE = Kind(
    *("", "v1", "Namespace", "namespaces", "ns", "V1Namespace"),
    namespaced=False,
    first={"status": {"phase": "Active"}},
    columns=(_PHASE, _AGE),
)


_PLAIN: dict[str, Json] = {
    "object": {},
    "str": {"type": "string"},
    "datetime": {"type": "string"},
    "int": {"type": "integer"},
    "bool": {"type": "boolean"},
}
_SUBDOMAIN = r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LABELS = {"additionalProperties": {"type": "string", "pattern": r"(?=.{0,63}$)(([A-Za-z0-9][-\w.]*)?[A-Za-z0-9])?"}}
_QUANTITIES = {"additionalProperties": {"format": "quantity"}}
_SIZE = {"minimum": 0}
# Checks and defaults of the server that are not in the models, by model and field.
# Source of the defaults: kubernetes pkg/apis/{apps,core}/v1/defaults.go, as far as a Deployment of ours has them.
_MORE: dict[str, Json] = {
    "V1ObjectMeta": {"name": {"pattern": _SUBDOMAIN}, "labels": _LABELS},
    "V1LabelSelector": {"matchLabels": _LABELS},
    "V1ResourceRequirements": {"limits": _QUANTITIES, "requests": _QUANTITIES},
    "V1ReplicaSetSpec": {"replicas": _SIZE},
    "V1Deployment": {"spec": {"default": {}}},
    "V1DeploymentSpec": {
        "replicas": {**_SIZE, "default": 1},
        "revisionHistoryLimit": {"default": 10},
        "progressDeadlineSeconds": {"default": 600},
        "strategy": {
            "default": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}
        },
        "template": {"default": {}},
    },
    "V1PodTemplateSpec": {"metadata": {"default": {}}, "spec": {"default": {}}},
    "V1PodSpec": {
        "containers": {"minItems": 1},
        "restartPolicy": {"default": "Always"},
        "terminationGracePeriodSeconds": {"default": 30},
        "dnsPolicy": {"default": "ClusterFirst"},
        "securityContext": {"default": {}},
        "schedulerName": {"default": "default-scheduler"},
    },
    "V1Container": {
        "imagePullPolicy": {"default": "Always"},
        "resources": {"default": {}},
        "terminationMessagePath": {"default": "/dev/termination-log"},
        "terminationMessagePolicy": {"default": "File"},
    },
    "V1ContainerPort": {"protocol": {"default": "TCP"}},
}
_REQUIRED = {
    "V1OwnerReference": ("apiVersion", "kind", "name", "uid"),
    "V1DeploymentSpec": ("selector", "template"),
    "V1PodSpec": ("containers",),
    "V1Container": ("name", "image"),
}


@cache
def schema_of(model: str) -> Json:
    """The schema of a type of the Kubernetes client: `V1Deployment`, `list[V1Container]`, `str`, ..."""
    if model in _PLAIN:
        return _PLAIN[model]
    if model.lower().startswith("list["):
        return {"type": "array", "items": schema_of(model[5:-1])}
    if model.lower().startswith("dict["):
        return {"type": "object", "additionalProperties": schema_of(model.split(", ")[1][:-1])}
    from kubernetes.client import models  # noqa: PLC0415 - 0.4 s and 25 MiB, only for those who use the simulator

    found, properties = getattr(models, model), {}
    for attribute, of in found.openapi_types.items():
        name = found.attribute_map[attribute]
        keyed = {ITEM_KEYS: KEYS[name]} if name in KEYS else {}
        properties[name] = {**schema_of(of), **keyed, **_MORE.get(model, {}).get(name, {})}
    return {"type": "object", "properties": properties, "required": _REQUIRED.get(model, ())}


@cache
def takara(*, schemaless: bool = False) -> Kind:
    """The Takara, as k8s/crd/takara.yaml defines it (in the package through the link takara_sync/k8s)."""
    text = files("takara_sync").joinpath("k8s/crd/takara.yaml").read_text(encoding="utf-8")
    version: Json = yaml.safe_load(text)["spec"]["versions"][0]
    anything: Json = {"type": "object", PRESERVE: True, "properties": {}}
    schema = anything if schemaless else version["schema"]["openAPIV3Schema"]
    schema["properties"]["metadata"] = schema_of("V1ObjectMeta")
    return Kind(
        *("maho.takara.org", "v1alpha1", "Takara", "takaras", "tk"),
        subresources=("status", "scale"),
        crd=schema,
        columns=tuple(version["additionalPrinterColumns"]),
        size_field="size",
        applicable=True,
    )


def served(crd: bool | Literal["schemaless"]) -> tuple[Kind, ...]:
    """All kinds; `crd`: with the Takara, without it, or with one whose CRD has no schema and lets everything in."""
    custom = (takara(schemaless=crd == "schemaless"),) if crd else ()
    return (DEPLOYMENT, REPLICA_SET, POD, NAMESPACE, EVENT, *custom)
