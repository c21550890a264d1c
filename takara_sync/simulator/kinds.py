"""The kinds that the simulator serves, and their schemas: the Takara's from its CRD, the others' from the client."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from takara_sync.list_keys import KEYS

Json = dict[str, Any]
_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


@dataclass(frozen=True)
class Kind:
    """One kind of object; `model` is the class of the Kubernetes client that knows its fields."""

    group: str
    version: str
    kind: str
    plural: str
    short_name: str
    model: str = ""
    namespaced: bool = True
    subresources: tuple[str, ...] = ("status",)
    crd: Json = field(default_factory=dict, compare=False)  # the schema of a custom resource
    columns: tuple[Json, ...] = field(default=(_AGE,), compare=False)  # as a CRD's additionalPrinterColumns
    size_field: str = "replicas"  # of the spec

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


DEPLOYMENT = Kind(
    group="apps",
    version="v1",
    kind="Deployment",
    plural="deployments",
    short_name="deploy",
    model="V1Deployment",
    subresources=("status", "scale"),
    columns=(
        {"name": "Ready", "type": "string", "jsonPath": ".status.readyReplicas/.spec.replicas"},
        {"name": "Up-to-date", "type": "integer", "jsonPath": ".status.updatedReplicas"},
        {"name": "Available", "type": "integer", "jsonPath": ".status.availableReplicas"},
        _AGE,
    ),
)
REPLICA_SET = Kind("apps", "v1", "ReplicaSet", "replicasets", "rs", "V1ReplicaSet")
_STATUS = {"name": "Status", "type": "string", "jsonPath": ".status.phase"}
POD = Kind("", "v1", "Pod", "pods", "po", "V1Pod", columns=(_STATUS, _AGE))
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", "ns", "V1Namespace", namespaced=False)
REVIEW = Kind(
    group="authorization.k8s.io",
    version="v1",
    kind="SelfSubjectAccessReview",
    plural="selfsubjectaccessreviews",
    short_name="",
    model="V1SelfSubjectAccessReview",
    namespaced=False,
    subresources=(),
)

_PLAIN = {"str": "string", "datetime": "string", "int": "integer", "bool": "boolean", "float": "number"}
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
    "V1ScaleSpec": {"replicas": _SIZE},
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
    """The structural schema of a type of the Kubernetes client: `V1Deployment`, `List[V1Container]`, `str`, ..."""
    if model == "object":
        return {}
    if model in _PLAIN:
        return {"type": _PLAIN[model]}
    if model.startswith("List["):
        return {"type": "array", "items": schema_of(model[5:-1])}
    if model.startswith("Dict["):
        return {"type": "object", "additionalProperties": schema_of(model.split(", ")[1][:-1])}
    from kubernetes.client import models  # noqa: PLC0415 - 0.4 s and 25 MiB, only for those who use the simulator

    found, properties = getattr(models, model), {}
    for attribute, of in found.openapi_types.items():
        name = found.attribute_map[attribute]
        keyed = {"x-kubernetes-list-map-keys": KEYS[name]} if name in KEYS else {}
        properties[name] = {**schema_of(of), **keyed, **_MORE.get(model, {}).get(name, {})}
    return {"type": "object", "properties": properties, "required": _REQUIRED.get(model, ())}


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
        spec["group"],
        version["name"],
        names["kind"],
        names["plural"],
        names["shortNames"][0],
        subresources=tuple(version["subresources"]),
        crd=schema,
        columns=tuple(version["additionalPrinterColumns"]),
        size_field=version["subresources"]["scale"]["specReplicasPath"].rpartition(".")[2],
    )


def served(*, crd: bool | Literal["schemaless"] = True) -> tuple[Kind, ...]:
    """All kinds; `crd`: with the Takara, without it, or with one whose CRD has no schema and lets everything in."""
    custom = (takara(schemaless=crd == "schemaless"),) if crd else ()
    return (DEPLOYMENT, REPLICA_SET, POD, NAMESPACE, REVIEW, *custom)
