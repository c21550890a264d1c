"""Deployments and pods that somebody might want who may not have them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Json = dict[str, Any]


def deployment(
    name: str, /, *owners: Json, pod: Json | None = None, metadata: Json | None = None, **container: Any
) -> Json:
    """A Deployment with the default pod, changed: `pod` are fields of its spec, `container` of its one container."""
    labels = {"app": "takara", "takara_cr": name}
    main = {"name": "takara", "image": "busybox", "command": ["sleep", "3600"]} | container
    spec = {"containers": [main]} | (pod or {})
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels, "ownerReferences": [deepcopy(owner) for owner in owners]},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels} | (metadata or {}), "spec": spec},
        },
    }


_HOST = {"name": "host", "hostPath": {"path": "/"}}
_OTHER = {"name": "other", "image": "evil"}
DEFAULT = {"name": "takara", "image": "busybox", "command": ["sleep", "3600"]}

OTHER_PODS: dict[str, Json] = {
    "another image": {"image": "evil"},
    "another command": {"command": ["sh"]},
    "no command": {"command": None},
    "arguments": {"args": ["1"]},
    "another name": {"name": "evil"},
    "environment": {"env": [{"name": "LD_PRELOAD", "value": "/x"}]},
    "secrets as environment": {"envFrom": [{"secretRef": {"name": "s"}}]},
    "a security context": {"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}},
    "a hook": {"lifecycle": {"postStart": {"exec": {"command": ["sh"]}}}},
    "a probe": {"livenessProbe": {"exec": {"command": ["sh"]}}},
    "a port": {"ports": [{"containerPort": 80, "hostPort": 80}]},
    "a pull policy": {"imagePullPolicy": "Never"},
    "hostPath": {"pod": {"volumes": [_HOST]}, "volumeMounts": [{"name": "host", "mountPath": "/host"}]},
    "a volume alone": {"pod": {"volumes": [_HOST]}},
    "hostNetwork": {"pod": {"hostNetwork": True}},
    "hostPID": {"pod": {"hostPID": True}},
    "another ServiceAccount": {"pod": {"serviceAccountName": "admin"}},
    "a node": {"pod": {"nodeName": "control-plane"}},
    "a priority": {"pod": {"priorityClassName": "system-node-critical"}},
    "a runtime": {"pod": {"runtimeClassName": "x"}},
    "a pod security context": {"pod": {"securityContext": {"runAsUser": 0}}},
    "a scheduler": {"pod": {"schedulerName": "mine"}},
    "a second container": {"pod": {"containers": [DEFAULT, _OTHER]}},
    "a container before": {"pod": {"initContainers": [_OTHER]}},
    "an annotation": {"metadata": {"annotations": {"inject.example/template": "evil"}}},
}
"""Changes of the default pod, as arguments of `deployment`."""
