"""Another Deployment for each Takara: resources, and a sidecar that ships logs.

`Policy.desired` makes the manifest. Name, labels, selector, owner and replicas are set afterwards, so they need not be
given here.

    python examples/custom_deployment.py
"""

from __future__ import annotations

from typing import Any

from takara_sync import KubeCluster, Policy, Report, Takara, sync_once

RESOURCES = {"requests": {"cpu": "50m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}}


def with_sidecar(takara: Takara) -> dict[str, Any]:
    """The Deployment of one Takara. It is pure: another manifest for the same Takara would be drift."""
    main = {"name": "takara", "image": "busybox", "command": ["sleep", "3600"], "resources": RESOURCES}
    logs = {"name": "logs", "image": "busybox", "command": ["tail", "-F", "/dev/null"], "resources": RESOURCES}
    labels = {"team": takara.metadata.namespace}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [main, logs]}}
    return {"metadata": {"annotations": {"example.org/made-by": "custom_deployment"}}, "spec": {"template": template}}


def sync(cluster: KubeCluster) -> Report:
    """One pass with it."""
    return sync_once(cluster, Policy(desired=with_sidecar))


if __name__ == "__main__":
    report = sync(KubeCluster.connect())
    report.raise_for_failure()
    print(", ".join(f"{outcome.key} {outcome.result}" for outcome in report.takaras))
