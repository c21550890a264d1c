"""An in-memory Kubernetes API over HTTP on loopback, for tests, for the demo, and to look at with kubectl.

    with Simulator() as cluster:          # cluster.url; any bearer token is the name of its user
        ...                               # requests; cluster.store.requests holds them
        cluster.controllers.settle()      # Deployments get their pods, garbage is collected

Without HTTP, well under a millisecond: `Store().handle(Request.of("GET", "/api/v1/pods")).json()`.

A test can go back to a moment instead of preparing it again, and can stand in for a webhook:

    prepared = cluster.store.snapshot()
    cluster.store.admission.append(hook)  # AdmissionHook: changes or refuses what is created and updated
    ...
    cluster.store.restore(prepared)       # the objects; not the hooks, nor the recorded requests

It serves Takaras, Deployments, ReplicaSets, pods, namespaces and SelfSubjectAccessReviews, as far as takara-sync and
kubectl's everyday verbs need them. `tests/contract` holds it to a real API server.

What it does not promise:

- Field ownership (managedFields, server-side apply) beyond Deployments; Takaras can be applied, no more. An applied
  list does not change the order of the items that are stored already, and a null in it has no effect.
- The exact words of refusals, and every cause that an API server finds; reasons and field paths are right.
- Refusals of requests that no client sends: a kind or name in the body that is not that of the path, a field selector
  that the API server does not support, preconditions of a delete.
- Validation and defaults beyond the CRD's schema, the types of fields and what a Deployment of takara-sync has; no
  defaults that depend on other fields (an image's pull policy, the second name of a service account, a part of a
  strategy). Server-side apply needs no field manager. Of the directives of a strategic merge patch, `$patch: delete`.
- No admission policies, webhooks, quota or PodSecurity but the hooks. No RBAC: a user has all rights or none.
- No watch, explain, delete of namespaces and collections, no chunked bodies, and none in YAML or protobuf. Ages in
  tables are in seconds.
- A rollout starts all new pods at once, and ends the old ones when these run; no other strategy, no revisions, pause,
  deadline or history limit. Pods run because a tick says so, and are gone as soon as they are deleted; a foreground
  deletion waits for the dependents of the object only, not for theirs.
- Nothing is persisted.
"""

from __future__ import annotations

from takara_sync.simulator.controllers import Controllers
from takara_sync.simulator.objects import AdmissionHook, Snapshot
from takara_sync.simulator.server import Simulator
from takara_sync.simulator.store import Store
from takara_sync.simulator.wire import Answer, Recorded, Refusal, Request

__all__ = [
    "AdmissionHook",
    "Answer",
    "Controllers",
    "Recorded",
    "Refusal",
    "Request",
    "Simulator",
    "Snapshot",
    "Store",
]
