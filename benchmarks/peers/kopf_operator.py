"""An operator for Takaras as the documentation of kopf writes one: `kopf run kopf_operator.py --all-namespaces`.

It reads from kopf's in-memory indices, creates the Deployment of a Takara, repairs its replicas, and writes the names
of the pods and a condition into the status. https://docs.kopf.dev/en/stable/walkthrough/creation/
"""

from __future__ import annotations

import datetime
from typing import Any

import kopf
import kubernetes

API = ("maho.takara.org", "v1alpha1", "takaras")
LABELS = {"app": "takara"}


@kopf.on.startup()
def connect(**_: Any) -> None:
    kubernetes.config.load_kube_config()


@kopf.index(*API)
def takaras(namespace: str, name: str, body: kopf.Body, **_: Any) -> Any:
    return {(namespace, name): dict(body)}


@kopf.index("apps", "v1", "deployments", labels=LABELS)
def deployments(namespace: str, name: str, body: kopf.Body, **_: Any) -> Any:
    return {(namespace, name): dict(body)}


@kopf.index("pods", labels=LABELS)
def pods(namespace: str, name: str, labels: kopf.Labels, **_: Any) -> Any:
    return {(namespace, labels["takara_cr"]): name}


@kopf.on.resume(*API)
@kopf.on.create(*API)
@kopf.on.update(*API, field="spec")
def takara_changed(body: kopf.Body, **indices: Any) -> None:
    reconcile(dict(body), **indices)


@kopf.on.event("apps", "v1", "deployments", labels=LABELS)
def deployment_changed(namespace: str, name: str, takaras: kopf.Index[Any, Any], **indices: Any) -> None:
    for takara in takaras.get((namespace, name), ()):
        reconcile(takara, **indices)


def reconcile(takara: dict[str, Any], deployments: kopf.Index[Any, Any], pods: kopf.Index[Any, Any], **_: Any) -> None:
    namespace, name = key = takara["metadata"]["namespace"], takara["metadata"]["name"]
    size = takara["spec"]["size"]
    deployment = next(iter(deployments.get(key, ())), None)
    apps = kubernetes.client.AppsV1Api()
    if deployment is None:
        deployment = deployment_for(takara)
        try:
            apps.create_namespaced_deployment(namespace, deployment)
        except kubernetes.client.ApiException as error:
            if error.reason != "Conflict":  # it exists, and its event will come
                raise
    elif deployment["spec"]["replicas"] != size:
        apps.patch_namespaced_deployment(name, namespace, {"spec": {"replicas": size}})
    write_status(takara, deployment.get("status", {}), sorted(pods.get(key, ())))


def write_status(takara: dict[str, Any], deployed: dict[str, Any], nodes: list[str]) -> None:
    recorded, metadata = takara.get("status", {}), takara["metadata"]
    status = {
        "observedGeneration": metadata["generation"],
        "nodes": nodes,
        "replicas": deployed.get("replicas", 0),
        "readyReplicas": deployed.get("readyReplicas", 0),
        "conditions": [ready_condition(takara, deployed)],
    }
    if any(recorded.get(field) != value for field, value in status.items()):
        custom_objects = kubernetes.client.CustomObjectsApi()
        place = (API[0], API[1], metadata["namespace"], API[2], metadata["name"])
        custom_objects.patch_namespaced_custom_object_status(*place, {"status": status})


def ready_condition(takara: dict[str, Any], deployed: dict[str, Any]) -> dict[str, Any]:
    size = takara["spec"]["size"]
    ready = deployed.get("availableReplicas", 0) == size
    recorded = next(iter(takara.get("status", {}).get("conditions", ())), {})
    unchanged = recorded.get("status") == str(ready)
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "type": "Ready",
        "status": str(ready),
        "reason": "Ready" if ready else "Progressing",
        "message": f"All {size} replicas are available." if ready else "The Deployment is not available yet.",
        "observedGeneration": takara["metadata"]["generation"],
        "lastTransitionTime": recorded["lastTransitionTime"] if unchanged else now,
    }


def deployment_for(takara: dict[str, Any]) -> dict[str, Any]:
    labels = LABELS | {"takara_cr": takara["metadata"]["name"]}
    container = {"name": "takara", "image": "busybox", "command": ["sleep", "3600"]}
    deployment = {
        "metadata": {"name": takara["metadata"]["name"], "labels": labels},
        "spec": {
            "replicas": takara["spec"]["size"],
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    kopf.append_owner_reference(deployment, owner=takara)
    return deployment
