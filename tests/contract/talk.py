"""The API in short words: what the product sends, to one namespace, with the answer's body at hand."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from takara_sync.simulator.fields import decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.contract.simulated import Simulated
    from tests.control_plane.server import ControlPlane
    from tests.server import Answer

    Both = Simulated | ControlPlane

Json = dict[str, Any]
APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
PARTIAL = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
MANAGER = "takara-sync"
OURS = (MANAGER, "Apply", "apps/v1", "")
OUR_FIELDS = {
    "metadata/labels/app",
    "metadata/labels/takara_cr",
    "spec/replicas",
    "spec/selector",
    "spec/template/metadata/labels/app",
    "spec/template/metadata/labels/takara_cr",
    'spec/template/spec/containers/k:{"name":"takara"}',
    'spec/template/spec/containers/k:{"name":"takara"}/name',
    'spec/template/spec/containers/k:{"name":"takara"}/image',
    'spec/template/spec/containers/k:{"name":"takara"}/command',
}
PLURALS = {
    "takaras": "/apis/maho.takara.org/v1alpha1",
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "pods": "/api/v1",
}
OTHER_UID = "00000000-0000-4000-8000-000000000000"
HOLD = "example.org/hold"  # a finalizer
REAL_ONLY = pytest.mark.parametrize("server", ["real"], indirect=True)
PATIENCE = 60.0  # seconds; the garbage collector may take half of them
POD = "spec.template.spec"
CONTAINER = f"{POD}.containers.0"


def takara(name: str = "one", **spec: Any) -> Json:
    """A Takara of size 3, unless the spec says otherwise."""
    return {
        "apiVersion": "maho.takara.org/v1alpha1",
        "kind": "Takara",
        "metadata": {"name": name},
        "spec": spec or {"size": 3},
    }


def deployment(name: str = "one", *, replicas: int = 3, **metadata: Any) -> Json:
    """The Deployment that the product applies by default, with more metadata where given."""
    labels = {"app": "takara", "takara_cr": name}
    container = {"name": "takara", "image": "busybox", "command": ["sleep", "3600"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels, **metadata},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def owner(of: Json, *, controller: bool = True) -> Json:
    """The reference to a Takara as it stands on its Deployment."""
    return {
        "apiVersion": of["apiVersion"],
        "kind": of["kind"],
        "name": of["metadata"]["name"],
        "uid": of["metadata"]["uid"],
        "controller": controller,
        "blockOwnerDeletion": True,
    }


def with_image(image: str, **metadata: Any) -> Json:
    """The default Deployment with another image."""
    return altered(deployment(**metadata), f"{CONTAINER}.image", image)


def renamed() -> Json:
    """The default Deployment with another container instead."""
    return altered(deployment(), f"{CONTAINER}.name", "renamed")


def with_second() -> Json:
    """The default Deployment with a second container."""
    (first,) = deployment()["spec"]["template"]["spec"]["containers"]
    return altered(deployment(), f"{POD}.containers", [first, {"name": "second", "image": "busybox"}])


BODIES = {"takaras": takara(), "deployments": deployment()}


def altered(value: Json, where: str, new: Any = ...) -> Json:
    """A copy with another value at a dotted path, or without the field where no value is given."""
    copy: Json = json.loads(json.dumps(value))
    inner: Any = copy
    *above, last = where.split(".")
    for step in above:
        inner = inner[int(step) if step.isdecimal() else step]
    inner |= {last: new}
    if new is ...:
        del inner[last]
    return copy


def containers(value: Json) -> dict[str, str]:
    """The images of a Deployment's containers, by name."""
    return {item["name"]: item["image"] for item in value["spec"]["template"]["spec"]["containers"]}


class Talk:
    """One server and one namespace of it."""

    def __init__(self, server: Both) -> None:
        self.server = server
        self.namespace = server.namespace()

    def path(self, plural: str, name: str = "", sub: str = "", query: str = "") -> str:
        """The path of a collection, an object or a subresource."""
        parts = [PLURALS[plural], "namespaces", self.namespace, plural, name, sub]
        return "/".join(part for part in parts if part) + (f"?{query}" if query else "")

    def get(self, plural: str, name: str = "one", sub: str = "") -> Json:
        """The object; fails where it is not there."""
        return _body(self.server.call("GET", self.path(plural, name, sub)), 200)

    def moment(self) -> None:
        """Lets the controllers work: the simulator's until they are done, the real ones for 50 ms."""
        if self.server.name == "simulator":
            self.server.settle(self.namespace)
        else:
            time.sleep(0.05)

    def settled(self, plural: str = "deployments", name: str = "one") -> Json:
        """The object once no controller writes it any more."""
        self.server.settle(self.namespace)
        return self.get(plural, name)

    def list(self, plural: str, query: str = "", *, accept: str = "application/json") -> Json:
        """One page."""
        return _body(self.server.call("GET", self.path(plural, query=query), accept=accept), 200)

    def post(self, plural: str, body: Any, query: str = "") -> Answer:
        """POST."""
        return self.server.call("POST", self.path(plural, query=query), body)

    def put(self, plural: str, body: Json, query: str = "") -> Answer:
        """PUT of the object of this name."""
        return self.server.call("PUT", self.path(plural, body["metadata"]["name"], query=query), body)

    def create(self, plural: str, body: Json, query: str = "") -> Json:
        """The object after a POST that succeeds."""
        return _body(self.post(plural, body, query), 201)

    def delete(self, plural: str, name: str = "one", policy: str = "Background") -> Answer:
        """DELETE, seen to be accepted."""
        answer = self.server.call("DELETE", self.path(plural, name), {"propagationPolicy": policy})
        assert answer.status in (200, 202), answer.body
        return answer

    def apply(
        self,
        body: Json,
        *,
        plural: str = "deployments",
        sub: str = "",
        manager: str = MANAGER,
        force: bool = True,
        query: str = "",
    ) -> Answer:
        """A server-side apply, as the product sends it."""
        said = f"fieldManager={manager}{'&force=true' if force else ''}{query}"
        path = self.path(plural, body["metadata"]["name"], sub, said)
        return self.server.call("PATCH", path, body, content_type=APPLY)

    def applied(self, body: Json, **how: Any) -> Json:
        """The object after an apply that is seen to succeed."""
        answer = self.apply(body, **how)
        assert answer.status in (200, 201), answer.body
        found: Json = answer.body
        return found

    def patch(
        self,
        plural: str,
        body: Any,
        *,
        name: str = "one",
        sub: str = "",
        content_type: str = MERGE,
        query: str = "fieldManager=somebody",
    ) -> Answer:
        """A patch of any type, as another manager."""
        path = self.path(plural, name, sub, query)
        return self.server.call("PATCH", path, body, content_type=content_type)

    def patched(self, plural: str, body: Any, **how: Any) -> Json:
        """The object after a patch that is seen to succeed."""
        return _body(self.patch(plural, body, **how), 200)

    def strategic(self, patch: Json) -> Json:
        """A Deployment after a strategic merge patch, as kubectl sends it."""
        return self.patched("deployments", patch, content_type=STRATEGIC)


def wait(talk: Talk, holds: Callable[[], bool]) -> None:
    """Lets the controllers work until it holds; fails after a minute."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came true"
        talk.moment()


def _body(answer: Answer, status: int) -> Json:
    assert answer.status == status, (answer.status, answer.body)
    found: Json = answer.body
    return found


def version(value: Json) -> str:
    """The object's resourceVersion."""
    return str(value["metadata"]["resourceVersion"])


def generation(value: Json) -> int:
    """The object's generation."""
    return int(value["metadata"]["generation"])


def entry(value: Json, manager: str = MANAGER, operation: str = "Apply", subresource: str = "") -> Json | None:
    """The manager's entry in managedFields, or None."""
    for item in value["metadata"].get("managedFields", ()):
        told = item["manager"], item["operation"], item.get("subresource", "")
        if told == (manager, operation, subresource):
            found: Json = item
            return found
    return None


def ours(value: Json) -> str:
    """Our entry's fieldsV1 as the product hashes it: byte for byte."""
    found = entry(value)
    assert found is not None
    return json.dumps(found["fieldsV1"])


def owned(value: Json, manager: str = MANAGER, operation: str = "Apply", subresource: str = "") -> set[str]:
    """The manager's fields as dotted paths without `f:`; empty where it has no entry."""
    found = entry(value, manager, operation, subresource)
    paths = decode([found])[0].paths if found else ()
    return {"/".join(part.removeprefix("f:") for part in path) for path in paths}


def refusal(answer: Answer) -> tuple[int, str, list[tuple[str, str]]]:
    """What the product reads of a refusal: the code, the reason, and (reason, field) of each cause.

    A real server says the same cause twice or three times for some updates of built-in kinds.
    """
    causes = (answer.body.get("details") or {}).get("causes") or []
    told = dict.fromkeys((one.get("reason", ""), one.get("field", "")) for one in causes)
    return answer.status, answer.body.get("reason", ""), list(told)
