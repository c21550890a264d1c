"""An in-memory Kubernetes API over HTTP on loopback, for tests, for the demo, and to look at with kubectl.

    with Simulator() as cluster:          # cluster.url; any bearer token is the user of that name
        ...                               # requests; cluster.store.requests counts them
        cluster.settle()                  # Deployments get their pods, garbage is collected

It serves Takaras, Deployments, ReplicaSets, pods, namespaces, events and SelfSubjectAccessReviews, as far as
takara-sync and kubectl's everyday verbs need them.  `tests/contract` holds it to a real API server.

What it does not promise:

- Field ownership (managedFields, server-side apply) is kept for Deployments and Takaras only, and by field names, not
  by the full OpenAPI types: the lists and atomic fields that it knows are in `ownership`.
- The order of items that several writers put into one keyed list, and two ports of one number in a strategic patch.
- A scale to the size there is already, by the manager who created the Deployment, takes no ownership here.
- No admission: no policies, webhooks, quota, limits or PodSecurity.  No RBAC: who may do what is the store's `deny`.
- Validation beyond the CRD's schema, the types of fields and what takara-sync can run into.
- No watch, no delete of collections, no protobuf or YAML answers; it says so with 501 or 406.
- Pods run because a tick says so, and are gone as soon as they are deleted; rollouts take the real one's way,
  not its timing.
- Nothing is persisted.
"""

from __future__ import annotations

from takara_sync.simulator.controllers import Controllers
from takara_sync.simulator.server import Simulator
from takara_sync.simulator.store import Asked, Store
from takara_sync.simulator.wire import Answer, Recorded, Request

__all__ = ["Answer", "Asked", "Controllers", "Recorded", "Request", "Simulator", "Store"]
