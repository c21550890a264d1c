"""The Deployment that a Takara asks for. Pure.

`deployment_for` is the default of `Policy.desired`, the seam for people who want another Deployment.
Whatever the seam returns is sealed: name, labels, selector, owner and replicas are never its to get wrong.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from takara_sync.fields import Tree, digest, own_fields, own_time, with_replicas, without_replicas
from takara_sync.objects import API_VERSION, KIND, Deployment, Takara

Body = dict[str, Any]

FORMAT = 1
"""Raised whenever the default body changes. A program that meets a newer one leaves the Deployment alone."""

_LABEL_VALUE_MAX = 63
_NAME_PART = 52


def deployment_for(takara: Takara) -> Body:
    """The Deployment of a Takara with a usable spec: its own template, else the pod of the Go operator."""
    template = takara.spec.get("template") or {"spec": {"containers": [default_container()]}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": template}}


def default_container() -> Body:
    """The container that the Go operator made."""
    return {"name": "takara", "image": "busybox", "command": ["sleep", "3600"]}


def label_value(name: str) -> str:
    """The value of the label `takara_cr`: the name, shortened where it exceeds the 63 characters of a label value.

    A name can have 253 characters. `_` cannot occur in a name, so a shortened one never meets another Takara's.
    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
    """
    if len(name) <= _LABEL_VALUE_MAX:
        return name
    return f"{name[:_NAME_PART]}_{hashlib.sha256(name.encode()).hexdigest()[:10]}"


def selector_labels(name: str) -> dict[str, str]:
    """The labels by which the pods of the Takara of this name are selected."""
    return {"app": "takara", "takara_cr": label_value(name)}


def selector_text(name: str) -> str:
    """The selector in the string form of the scale subresource."""
    return ",".join(f"{key}={value}" for key, value in sorted(selector_labels(name).items()))


def sealed(body: Body, takara: Takara, deployment: Deployment | None) -> Body:
    """`body` with everything that makes it this Takara's Deployment, whatever it said there before.

    A live controller reference is echoed word for word: clusters may refuse any change of one.
    """
    labels = selector_labels(takara.metadata.name)
    metadata = {key: value for key, value in body.get("metadata", {}).items() if key in ("labels", "annotations")}
    template = body["spec"]["template"]
    template_metadata = template.get("metadata") or {}
    template = template | {"metadata": template_metadata | {"labels": (template_metadata.get("labels") or {}) | labels}}
    return body | {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata
        | {
            "name": takara.metadata.name,
            "namespace": takara.metadata.namespace,
            "labels": (metadata.get("labels") or {}) | labels,
            "ownerReferences": [owner_reference(takara, deployment)],
        },
        "spec": body["spec"] | {"replicas": takara.size, "selector": {"matchLabels": labels}, "template": template},
    }


def owner_reference(takara: Takara, deployment: Deployment | None) -> Body:
    """The live controller reference where there is one, else the one that makes this Takara the controller."""
    if deployment is not None and deployment.controller is not None:
        live: Body = msgspec.to_builtins(deployment.controller)
        return live
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": takara.metadata.name,
        "uid": takara.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def comparable(body: Body) -> Body:
    """The part of a body that can differ from a live object that is the same object."""
    kept = ("labels", "annotations", "ownerReferences")
    metadata = {key: value for key, value in body["metadata"].items() if key in kept}
    return {"metadata": metadata, "spec": body["spec"]}


def with_size(body: Body, replicas: int) -> Body:
    """The body with other replicas."""
    return body | {"spec": body["spec"] | {"replicas": replicas}}


# ------------------------------------------------------------------ what an apply leaves behind


def config_hash(body: Body, *, contested: bool = False) -> str:
    """What was asked for: the SHA-256 of the body without uid and resourceVersion, and, while the replicas are
    contested, without the replicas."""
    metadata = {key: value for key, value in body["metadata"].items() if key not in ("uid", "resourceVersion")}
    spec = {key: value for key, value in body["spec"].items() if not (contested and key == "replicas")}
    return digest(body | {"metadata": metadata, "spec": spec})


def fields_hash(deployment: Deployment, *, contested: bool = False) -> str:
    """What we own, and since when: the SHA-256 of our entry's time and `fieldsV1`, while the replicas are contested
    without them."""
    tree = own_fields(deployment.managed_fields)
    return _dated(deployment, without_replicas(tree) if contested else tree)


def _dated(deployment: Deployment, tree: Tree) -> str:
    return digest([own_time(deployment.managed_fields), tree])


def as_recorded(deployment: Deployment, takara: Takara, body: Body, *, contested: bool) -> bool:
    """Whether uid, body and owned fields are what the last apply recorded: then nothing drifted.

    A contest may have begun or not since that apply, so its record counts with and without the replicas. A record of
    another generation does not count: what was asked for in between may have been applied by a pass that was killed
    before it told so.
    """
    was = takara.applied
    tree: Tree = own_fields(deployment.managed_fields)
    configs, fields = {config_hash(body)}, {_dated(deployment, tree)}
    if contested:
        configs.add(config_hash(body, contested=True))
        fields = {_dated(deployment, with_replicas(tree)), _dated(deployment, without_replicas(tree))}
    recorded = was.config_hash in configs and was.fields_hash in fields
    told = takara.told.get("observedGeneration") == takara.metadata.generation
    return told and recorded and was.uid == deployment.uid and was.format == FORMAT
