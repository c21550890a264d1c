"""An in-memory Kubernetes API over HTTP on loopback, for tests, for the demo, and to look at with kubectl.

    with Simulator() as cluster:          # cluster.url; any bearer token is the user of that name
        ...                               # requests; cluster.store.requests counts them
        cluster.settle()                  # Deployments get their pods, garbage is collected

It serves Takaras, Deployments, ReplicaSets, pods, namespaces, events and SelfSubjectAccessReviews, as far as
takara-sync and kubectl's everyday verbs need them.  `tests/contract` holds it to a real API server.

What it does not promise:

- Field ownership (managedFields, server-side apply) beyond Deployments; Takaras can be applied, no more.  The keyed
  lists and atomic fields that it knows are in `fields`.
- The exact words of refusals, and every cause that a real server finds; reasons and field paths are right.
- Validation and defaults beyond the CRD's schema, the types of fields and what a Deployment of takara-sync has.
- No admission policies, webhooks, quota or PodSecurity.  No RBAC: who may do what is the store's `deny`.
- No watch, explain, delete of collections, protobuf or YAML answers; it says so with 501, 404 or 406.
- Rollouts take the default strategy, whatever is asked for; no pause, no deadline, no history limit.  Pods run because
  a tick says so, and are gone as soon as they are deleted.
- Nothing is persisted.
"""

from __future__ import annotations

from takara_sync.simulator.controllers import Controllers
from takara_sync.simulator.server import Simulator
from takara_sync.simulator.store import Asked, Store
from takara_sync.simulator.wire import Answer, Recorded, Request

__all__ = ["Answer", "Asked", "Controllers", "Recorded", "Request", "Simulator", "Store"]
