"""Takaras and Deployments on a server, made and looked at in the words of the tests."""

from __future__ import annotations

from typing import Any

from tests.server import Server
from tests.support.takaras import takara as takara  # noqa: PLC0414 - the tests of a world need both

Json = dict[str, Any]

GO_OPERATOR = "takara-operator"
_APPS = "/apis/apps/v1/namespaces"
_MAHO = "/apis/maho.takara.org/v1alpha1/namespaces"


class World:
    """One namespace of a server."""

    def __init__(self, server: Server, namespace: str) -> None:
        self.server = server
        self.namespace = namespace

    def call(self, method: str, path: str, body: Any = None, code: int | None = None, **options: Any) -> Any:
        """The body of the answer, which has to be a good one, or the one that is named."""
        answer = self.server.call(method, path, body, **options)
        assert answer.status == code if code else answer.status < 300, f"{method} {path}: {answer.body}"
        return answer.body

    def items(self, version: str, plural: str) -> list[Json]:
        """All objects of a kind: `apps/v1`, `deployments`."""
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        found: list[Json] = self.call("GET", f"{root}/namespaces/{self.namespace}/{plural}")["items"]
        return found

    # -------------------------------------------------------------- Takaras

    def create(self, *takaras: Json) -> list[Json]:
        path = f"{_MAHO}/{self.namespace}/takaras"
        return [self.call("POST", path, one) for one in takaras]

    def takara(self, name: str) -> Json:
        found: Json = self.call("GET", f"{_MAHO}/{self.namespace}/takaras/{name}")
        return found

    def status(self, name: str) -> Json:
        found: Json = self.takara(name)["status"]
        return found

    def condition(self, name: str, kind: str) -> Json:
        return next(condition for condition in self.status(name)["conditions"] if condition["type"] == kind)

    def merge(self, name: str, patch: Json) -> Json:
        path = f"{_MAHO}/{self.namespace}/takaras/{name}"
        merged: Json = self.call("PATCH", path, patch, content_type="application/merge-patch+json")
        return merged

    def takara_path(self, name: str) -> str:
        return f"{_MAHO}/{self.namespace}/takaras/{name}"

    # -------------------------------------------------------------- Deployments

    def deployment(self, name: str) -> Json:
        found: Json = self.call("GET", f"{_APPS}/{self.namespace}/deployments/{name}")
        return found

    def has_deployment(self, name: str) -> bool:
        return self.server.call("GET", f"{_APPS}/{self.namespace}/deployments/{name}").status == 200

    def merge_deployment(self, name: str, patch: Json) -> Json:
        path = f"{_APPS}/{self.namespace}/deployments/{name}"
        merged: Json = self.call("PATCH", path, patch, content_type="application/merge-patch+json")
        return merged

    def post_deployment(self, body: Json, manager: str = "somebody") -> Json:
        made: Json = self.call("POST", f"{_APPS}/{self.namespace}/deployments?fieldManager={manager}", body)
        return made

    def pods(self, name: str) -> list[str]:
        """The names of the pods that carry the labels of this Takara, sorted."""
        selector = f"labelSelector=app%3Dtakara%2Ctakara_cr%3D{name}"
        items = self.call("GET", f"/api/v1/namespaces/{self.namespace}/pods?{selector}")["items"]
        return sorted(pod["metadata"]["name"] for pod in items)

    def kubectl(self, *args: str, stdin: str | None = None) -> str:
        return self.server.kubectl(*args, stdin=stdin, namespace=self.namespace).stdout

    def settle(self) -> None:
        self.server.settle(self.namespace)


def as_the_go_operator(owner: Json, size: int, **container: Any) -> Json:
    """A Deployment as the Go operator makes it: labels on the pods only, and its owner."""
    name = owner["metadata"]["name"]
    labels = {"app": "takara", "takara_cr": name}
    main = {"name": "takara", "image": "busybox", "command": ["sleep", "3600"]} | container
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "ownerReferences": [owner_reference(owner)]},
        "spec": {
            "replicas": size,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [main]}},
        },
    }


def owner_reference(owner: Json) -> Json:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
