"""What a real API server answered for three Takaras: `python -m benchmarks.generated.recording` records it anew.

The fleet is generated from these answers, so record again when a pass writes another status or another Deployment:
tests/load/test_generated.py says when.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import msgspec

from benchmarks.generated.recorded import FILE, NAMESPACE, SIZE, TAKARAS, Recording
from takara_sync import sync_once
from takara_sync.kube.api import Api, Deadline, Request, Response
from tests.control_plane.build import assets
from tests.control_plane.server import ControlPlane
from tests.support.takaras import takara
from tests.support.transport import over_http

LIMITS = {"deployments": 2, "takaras": 2, "pods": 6}  # so that the first page holds two of the three Takaras
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json"
LISTS = {  # path, query and Accept, as takara-sync sends them
    "deployments": ("/apis/apps/v1/deployments", (("labelSelector", "app=takara"),), "application/json"),
    "takaras": ("/apis/maho.takara.org/v1alpha1/takaras", (), "application/json"),
    "pods": (
        "/api/v1/pods",
        (("labelSelector", "app=takara"), ("fieldSelector", "status.phase!=Failed,status.phase!=Succeeded")),
        METADATA,
    ),
}


def record(server: ControlPlane) -> Recording:
    """Record a new fleet in a control plane that has no Takara yet."""
    server.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    names = [f"takara-{number:05}" for number in range(TAKARAS)]
    for name in names:
        server.call("POST", f"/apis/maho.takara.org/v1alpha1/namespaces/{NAMESPACE}/takaras", takara(name, SIZE))
    kubeconfig = str(server.user().kubeconfig)
    api = Api.connect(kubeconfig)
    new = {resource: _page(api, resource, 500) for resource in LISTS}
    answers: dict[str, str] = {}

    def around(request: Request, send: Callable[[], Response]) -> Response:
        response = send()
        answers.setdefault(request.path, response.body.decode())
        return response

    cluster = over_http(kubeconfig, around)
    sync_once(cluster).raise_for_failure()
    for name in names:
        server.make_ready(NAMESPACE, name)
    sync_once(cluster).raise_for_failure()
    return Recording(
        new,
        {resource: _two_pages(api, resource, limit) for resource, limit in LIMITS.items()},
        answers[f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{names[0]}"],
        answers[f"/apis/maho.takara.org/v1alpha1/namespaces/{NAMESPACE}/takaras/{names[0]}/status"],
    )


def _two_pages(api: Api, resource: str, limit: int) -> tuple[str, str]:
    first = _page(api, resource, limit)
    token = msgspec.json.decode(first)["metadata"]["continue"]
    return first, _page(api, resource, limit, ("continue", token))


def _page(api: Api, resource: str, limit: int, *more: tuple[str, str]) -> str:
    path, query, accept = LISTS[resource]
    request = Request("GET", path, (*query, ("limit", str(limit)), *more), accept=accept)
    return api.send(request, Deadline(30)).decode()


def main() -> int:
    """Write the file."""
    found = assets()
    if found is None:
        sys.exit("there is no control plane: run python -m tests.control_plane")
    with ControlPlane(found) as server:
        recorded = record(server)
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(recorded)) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
