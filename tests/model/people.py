"""What people and other programs do to a namespace; a server that refuses it is no matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from tests.model import oracle
from tests.model.requests import Sent
from tests.support.takaras import Json, takara
from tests.world import as_the_go_operator

if TYPE_CHECKING:
    from takara_sync.kube.response import Response
    from tests.model.backends import Backend

APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
PAUSED = {"maho.takara.org/paused": "true"}
CLEARED: list[Json] = [{}]  # how managedFields are cleared

_NEW = ("apiVersion", "kind", "spec")


class People:
    """Everybody but takara-sync."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def ask(
        self, method: str, where: str, body: Any = None, kind: str = "application/json", query: str = ""
    ) -> Response:
        """One request of somebody: a plural, name and subresource, written as a path."""
        path = self._backend.path(*where.split("/"))
        return self._backend.send(Sent(method, path, tuple(parse_qsl(query)), body, kind))

    # -------------------------------------------------------------- Takaras

    def create(self, name: str, spec: Any, *, halted: bool = False) -> None:
        body = takara(name) | {"spec": spec}
        body["metadata"] |= {"annotations": PAUSED} if halted else {}
        self.ask("POST", "takaras", body)

    def edit(self, name: str, spec: Json) -> None:
        self.ask("PATCH", f"takaras/{name}", {"spec": spec}, MERGE)

    def annotate(self, name: str, annotations: Json) -> None:
        self.ask("PATCH", f"takaras/{name}", {"metadata": {"annotations": annotations}}, MERGE)

    def scale_takara(self, name: str, size: int) -> None:
        self.ask("PATCH", f"takaras/{name}/scale", {"spec": {"replicas": size}}, MERGE)

    def delete(self, plural: str, name: str, policy: str = "Background") -> None:
        self.ask("DELETE", f"{plural}/{name}", {"propagationPolicy": policy})

    def write_a_condition(self, name: str) -> None:
        """Another controller tells something of its own."""
        theirs = {"type": "Audited", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        add = {"op": "add", "path": "/status/conditions/-", "value": theirs | {"reason": "Seen", "message": "Fine."}}
        self.ask("PATCH", f"takaras/{name}/status", [add], JSON_PATCH)

    def lose_the_status(self, name: str) -> None:
        gone = {"op": "replace", "path": "/status", "value": {}}
        self.ask("PATCH", f"takaras/{name}/status", [gone], JSON_PATCH)

    # -------------------------------------------------------------- Deployments

    def scale(self, name: str, size: int, manager: str) -> None:
        """`kubectl scale`, or what a HorizontalPodAutoscaler does."""
        self.ask("PATCH", f"deployments/{name}/scale", {"spec": {"replicas": size}}, MERGE, f"fieldManager={manager}")

    def set_replicas(self, name: str, size: int, manager: str) -> None:
        self.ask("PATCH", f"deployments/{name}", {"spec": {"replicas": size}}, MERGE, f"fieldManager={manager}")

    def merge(self, name: str, metadata: Json) -> None:
        self.ask("PATCH", f"deployments/{name}", {"metadata": metadata}, MERGE, "fieldManager=kubectl-edit")

    def remove_owner(self, name: str) -> None:
        self.merge(name, {"ownerReferences": None})

    def apply(self, name: str, part: Json, manager: str = "gitops") -> None:
        """Force-apply a part of it, whoever holds that."""
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}} | part
        if self._backend.get("deployments", name):
            self.ask("PATCH", f"deployments/{name}", body, APPLY, f"fieldManager={manager}&force=true")

    def change_pod(self, name: str, pod: Json, manager: str = "kubectl") -> None:
        """A strategic merge of the pod template, as `kubectl set image` and `rollout restart` send it."""
        body = {"spec": {"template": pod}}
        self.ask("PATCH", f"deployments/{name}", body, STRATEGIC, f"fieldManager={manager}")

    def clear_managed_fields(self, name: str) -> None:
        self.merge(name, {"managedFields": CLEARED})

    def replace(self, name: str, image: str) -> None:
        """`kubectl replace --force`: the same Deployment with another image and another uid."""
        live = self._backend.get("deployments", name)
        if live is None:
            return
        self.delete("deployments", name)
        live = msgspec.json.decode(msgspec.json.encode(live))  # the simulator's objects are not to be written
        kept = {key: live["metadata"][key] for key in ("labels", "ownerReferences") if key in live["metadata"]}
        live["spec"]["template"]["spec"]["containers"][0]["image"] = image
        body = {key: live[key] for key in _NEW if key in live} | {"metadata": {"name": name} | kept}
        self.ask("POST", "deployments", body, query="fieldManager=kubectl-replace")

    # -------------------------------------------------------------- strangers

    def as_the_go_operator(self, name: str, size: int, **container: Any) -> None:
        owner = self._backend.get("takaras", name)
        if owner and len(name) <= 63:
            body = as_the_go_operator(owner, size, **container)
            self.ask("POST", "deployments", body, query="fieldManager=takara-operator")

    def strange_deployment(self, name: str, owner: Json | None, *, labelled: bool) -> None:
        """A Deployment of that name that is nobody's, or somebody else's."""
        metadata: Json = {"name": name, "labels": oracle.labels(name) if labelled else {}}
        metadata |= {"ownerReferences": [owner]} if owner else {}
        pod = {"containers": [{"name": "theirs", "image": "nginx"}]}
        selected = oracle.labels(name)
        template = {"metadata": {"labels": selected}, "spec": pod}
        spec = {"replicas": 1, "selector": {"matchLabels": selected}, "template": template}
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
        self.ask("POST", "deployments", body, query="fieldManager=stranger")

    def stray_pod(self, name: str, owner: Json | None = None) -> None:
        """A pod with our labels that no Deployment of ours made."""
        labels = oracle.labels(name) | ({"pod-template-hash": "abc"} if owner else {})
        metadata: Json = {"generateName": "stray-", "labels": labels}
        metadata |= {"ownerReferences": [owner]} if owner else {}
        spec = {"containers": [{"name": "theirs", "image": "nginx"}]}
        self.ask("POST", "pods", {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def reference(kind: str, name: str, uid: str = "00000000-0000-4000-8000-000000000000") -> Json:
    """A controller reference, to something that need not be there."""
    version = "maho.takara.org/v1alpha1" if kind == "Takara" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}
