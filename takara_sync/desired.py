"""The manifest of the Deployment of a Takara. Pure.

`deployment_for` is the default of `Policy.desired`; a user can give another function there. `with_identity` then sets
name, labels, selector, owner and replicas, and overrides what the function returned for them.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from takara_sync.objects import API_VERSION, KIND, Deployment, Takara

Manifest = dict[str, Any]

_LABEL_VALUE_MAX = 63
_NAME_PART = 52


def deployment_for(takara: Takara, image: str = "busybox", pull_policy: str | None = None) -> Manifest:
    """The Deployment of a Takara with a usable spec: with its own template, else with the default pod."""
    template = takara.spec.get("template") or {"spec": {"containers": [default_container(image, pull_policy)]}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": template}}


def default_container(image: str = "busybox", pull_policy: str | None = None) -> Manifest:
    """The container that the Go operator created, if nobody wants another image.

    The admission policy for our account (k8s/base/fence.yaml) repeats it; a test compares the two.
    """
    container = {"name": "takara", "image": image, "command": ["sleep", "3600"]}
    return container | ({"imagePullPolicy": pull_policy} if pull_policy else {})


def label_value(name: str) -> str:
    """The value of the label `takara_cr`: the name, shortened if it exceeds the 63 characters of a label value.

    A name can have 253 characters. A name has no `_`, so a shortened name never equals the name of another Takara.
    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
    """
    if len(name) <= _LABEL_VALUE_MAX:
        return name
    return f"{name[:_NAME_PART]}_{hashlib.sha256(name.encode()).hexdigest()[:10]}"


def selector_labels(name: str) -> dict[str, str]:
    """The labels that select the pods of the Takara of this name."""
    return {"app": "takara", "takara_cr": label_value(name)}


def selector_text(name: str) -> str:
    """The selector as a string, as the scale subresource needs it."""
    return ",".join(f"{key}={value}" for key, value in sorted(selector_labels(name).items()))


def with_identity(manifest: Manifest, takara: Takara, deployment: Deployment | None) -> Manifest:
    """`manifest` with name, labels, selector, owner and replicas of this Takara, whatever it had there before.

    An existing controller reference is repeated unchanged: some clusters reject every change of it.
    """
    labels = selector_labels(takara.metadata.name)
    metadata = {key: value for key, value in manifest.get("metadata", {}).items() if key in ("labels", "annotations")}
    return manifest | {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata
        | {
            "name": takara.metadata.name,
            "namespace": takara.metadata.namespace,
            "labels": (metadata.get("labels") or {}) | labels,
            "ownerReferences": [owner_reference(takara, deployment)],
        },
        "spec": manifest["spec"]
        | {"replicas": takara.size, "selector": {"matchLabels": labels}}
        | {"template": _template(manifest["spec"]["template"], labels)},
    }


def _template(template: Manifest, labels: dict[str, str]) -> Manifest:
    """The pod template with our labels. If it names a ServiceAccount, both fields for that name are set.

    The server copies each of the two fields to the other. If we owned only one, the other would restore it after we
    remove it.
    https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#podspec-v1-core (serviceAccount)
    """
    metadata = template.get("metadata") or {}
    spec = template["spec"]
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    accounts = {"serviceAccountName": account, "serviceAccount": account} if account else {}
    labelled = metadata | {"labels": (metadata.get("labels") or {}) | labels}
    return template | {"metadata": labelled, "spec": spec | accounts}


def owner_reference(takara: Takara, deployment: Deployment | None) -> Manifest:
    """The existing controller reference, else one that makes this Takara the controller."""
    if deployment is not None and (controller := deployment.controller) is not None:
        live: Manifest = msgspec.to_builtins(controller)
        return live
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": takara.metadata.name,
        "uid": takara.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def comparable(manifest: Manifest) -> Manifest:
    """The part of a manifest to compare with the live object: no name, namespace, uid or version."""
    kept = ("labels", "annotations", "ownerReferences")
    metadata = {key: value for key, value in manifest["metadata"].items() if key in kept}
    return {"metadata": metadata, "spec": manifest["spec"]}


def with_size(manifest: Manifest, replicas: int) -> Manifest:
    """The manifest with this number of replicas."""
    return manifest | {"spec": manifest["spec"] | {"replicas": replicas}}
