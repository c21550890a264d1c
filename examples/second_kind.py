"""A second kind, with the same timeouts, retries and errors: a PodDisruptionBudget for every Takara.

takara-sync is no framework over kinds. `takara_sync.kube.api` sends one request of any kind; what to send is decided
here, in the same order as the pass does it: read everything, decide, write what differs, one bad object costs one line.

    python examples/second_kind.py
"""

from __future__ import annotations

import json
from typing import Any

from takara_sync import Key, KubeCluster, Takara
from takara_sync.desired import selector_labels
from takara_sync.errors import ObjectError
from takara_sync.kube.api import APPLY, Api, Deadline, Request

BUDGETS = "/apis/policy/v1"
MANAGER = (("fieldManager", "takara-budgets"), ("force", "true"))
LABEL = "takara-budgets"


def wanted(takara: Takara) -> dict[str, Any]:
    """At most one pod of a Takara is taken away at a time. Owned by the Takara: it goes when that goes."""
    owner = {"apiVersion": "maho.takara.org/v1alpha1", "kind": "Takara", "name": takara.key.name, "uid": takara.uid}
    metadata = {"name": takara.key.name, "labels": {"app": LABEL}, "ownerReferences": [owner]}
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": selector_labels(takara.key.name)}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}


def read(api: Api, deadline: Deadline) -> dict[Key, dict[str, Any]]:
    """The budgets there are. Few enough here for one page; `KubeCluster` shows how to follow several."""
    body = api.send(Request("GET", f"{BUDGETS}/poddisruptionbudgets", (("labelSelector", f"app={LABEL}"),)), deadline)
    return {Key(one["metadata"]["namespace"], one["metadata"]["name"]): one for one in json.loads(body)["items"]}


def sync(api: Api, deadline: Deadline) -> list[str]:
    """One pass; the lines of its report."""
    live, lines = read(api, deadline), []
    for takara in KubeCluster(api).takaras(deadline).items:
        manifest, found = wanted(takara), live.get(takara.key, {})
        same_owner = found.get("metadata", {}).get("ownerReferences") == manifest["metadata"]["ownerReferences"]
        if takara.deleting or (same_owner and found["spec"] == manifest["spec"]):
            continue
        path = f"{BUDGETS}/namespaces/{takara.key.namespace}/poddisruptionbudgets/{takara.key.name}"
        try:
            api.send(Request("PATCH", path, MANAGER, manifest, APPLY), deadline)
            lines.append(f"{takara.key} applied")
        except ObjectError as error:
            lines.append(f"{takara.key} failed: {error}")
    return lines


if __name__ == "__main__":
    print("\n".join(sync(Api.connect(), Deadline(50))) or "nothing to do")
