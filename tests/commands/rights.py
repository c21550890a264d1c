"""What a user may do, and what a server forbids everybody: on a real API server."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.world import takara

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.server import User
    from tests.world import World

RIGHTS: tuple[tuple[str, str, str], ...] = (
    ("maho.takara.org", "takaras", "get"),
    ("maho.takara.org", "takaras", "list"),
    ("maho.takara.org", "takaras/status", "patch"),
    ("maho.takara.org", "takaras/finalizers", "update"),
    ("apps", "deployments", "get"),
    ("apps", "deployments", "list"),
    ("apps", "deployments", "create"),
    ("apps", "deployments", "patch"),
    ("", "pods", "list"),
)
"""Exactly what a pass needs (design.md, section 6)."""

_RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"


def grant(world: World, user: User, rights: Sequence[tuple[str, str, str]] = RIGHTS) -> None:
    """A Role with these rights in the namespace, bound to this user; waits until the server honours it."""
    rules = [{"apiGroups": [group], "resources": [resource], "verbs": [verb]} for group, resource, verb in rights]
    role = {"metadata": {"name": "sync"}, "rules": rules}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user.name}
    bound = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "sync"}
    world.call("POST", f"{_RBAC}/{world.namespace}/roles", role)
    binding = {"metadata": {"name": "sync"}, "subjects": [subject], "roleRef": bound}
    world.call("POST", f"{_RBAC}/{world.namespace}/rolebindings", binding)
    while not all(_may(world, user, right) for right in rights):
        time.sleep(0.02)


def _may(world: World, user: User, right: tuple[str, str, str]) -> bool:
    group, resource, verb = right
    resource, _, subresource = resource.partition("/")
    attributes = {"group": group, "resource": resource, "verb": verb, "namespace": world.namespace}
    body = {"spec": {"resourceAttributes": attributes | ({"subresource": subresource} if subresource else {})}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    allowed: bool = world.call("POST", path, body, user=user)["status"]["allowed"]
    return allowed


@contextmanager
def refusing(world: World, name: str, words: str) -> Iterator[None]:
    """The server refuses every write of the Deployment `name` with these words."""
    rule: dict[str, Any] = {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["deployments"],
        "resourceNames": [name],
    }
    here = {"matchLabels": {"kubernetes.io/metadata.name": world.namespace}}
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"namespaceSelector": here, "resourceRules": [rule]},
        "validations": [{"expression": "false", "message": words}],
    }
    named = {"metadata": {"name": world.namespace}}
    bound = {"policyName": world.namespace, "validationActions": ["Deny"]}
    world.call("POST", f"{_ADMISSION}/validatingadmissionpolicies", named | {"spec": spec})
    world.call("POST", f"{_ADMISSION}/validatingadmissionpolicybindings", named | {"spec": bound})
    path = f"/apis/apps/v1/namespaces/{world.namespace}/deployments?dryRun=All"
    while words not in str(world.server.call("POST", path, _probe(name)).body):  # it takes a moment to be enforced
        time.sleep(0.02)
    yield
    world.call("DELETE", f"{_ADMISSION}/validatingadmissionpolicybindings/{world.namespace}")
    world.call("DELETE", f"{_ADMISSION}/validatingadmissionpolicies/{world.namespace}")


def _probe(name: str) -> dict[str, Any]:
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def fleet(world: World, size: int, prefix: str = "t") -> list[str]:
    """So many Takaras of size 1; their names, sorted."""
    names = [f"{prefix}{number:02}" for number in range(size)]
    world.create(*(takara(name, 1) for name in names))
    return names
