"""Objects that people and other programs make."""

from __future__ import annotations

import msgspec

from tests.model import oracle
from tests.support.takaras import Json

PAUSED = {"maho.takara.org/paused": "true"}
THEIRS: Json = {"containers": [{"name": "theirs", "image": "nginx"}]}
AUDITED = {
    "type": "Audited",
    "status": "True",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
    "reason": "Seen",
    "message": "Fine.",
}
"""A condition of another controller."""


def reference(kind: str, name: str, uid: str = "00000000-0000-4000-8000-000000000000") -> Json:
    """A controller reference, to something that need not be there."""
    version = "maho.takara.org/v1alpha1" if kind == "Takara" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}


def strange_deployment(name: str, owner: Json | None, *, labelled: bool) -> Json:
    """A Deployment of that name that is nobody's, or somebody else's."""
    labels = oracle.labels(name)
    metadata: Json = {"name": name, "labels": labels if labelled else {}, "ownerReferences": [owner] if owner else []}
    template = {"metadata": {"labels": labels}, "spec": THEIRS}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def stray_pod(name: str, *, owned: bool) -> Json:
    """A pod with our labels that no Deployment of ours made; `owned`: a ReplicaSet of another name did."""
    owners = [reference("ReplicaSet", f"{name[:200]}-other")] if owned else []
    labels = oracle.labels(name) | ({"pod-template-hash": "abc"} if owned else {})
    metadata = {"generateName": "stray-", "labels": labels, "ownerReferences": owners}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": THEIRS}


def reimaged(live: Json, image: str) -> Json:
    """The same Deployment with another image, as `kubectl replace --force` makes it anew."""
    copy: Json = msgspec.json.decode(msgspec.json.encode(live))  # the simulator's objects are not to be written
    kept = {key: copy["metadata"][key] for key in ("name", "labels", "ownerReferences") if key in copy["metadata"]}
    copy["spec"]["template"]["spec"]["containers"][0]["image"] = image
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": kept, "spec": copy["spec"]}
