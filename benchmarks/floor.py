"""The floor: the same requests as takara-sync's, and nothing else. `floor.py apply` or `floor.py lists`.

apply: list the Takaras, and apply the Deployment of each from 16 threads by bare http.client. No status is written.
lists: the three lists of a settled pass by bare urllib3, thrown away.
Prints the seconds of the requests, without the start of Python.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import ssl
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import local
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

THREADS = 16
_TAKARAS = "/apis/maho.takara.org/v1alpha1/takaras"
_LABEL = {"labelSelector": "app=takara"}
_LISTS: tuple[tuple[str, dict[str, str], str], ...] = (
    ("/apis/apps/v1/deployments", _LABEL, "application/json"),
    (_TAKARAS, {}, "application/json"),
    (
        "/api/v1/pods",
        _LABEL | {"fieldSelector": "status.phase!=Failed,status.phase!=Succeeded"},
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json",
    ),
)
_APPLY = "fieldManager=takara-sync&force=true"


def main() -> None:
    """Send the requests of `apply` or `lists`."""
    config = yaml.load(Path(os.environ["KUBECONFIG"]).read_text(), yaml.CSafeLoader)
    cluster, token = config["clusters"][0]["cluster"], config["users"][0]["user"]["token"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    headers = {"Authorization": f"Bearer {token}"}
    seconds = {"apply": apply, "lists": lists}[sys.argv[1]](cluster["server"], authority, headers)
    sys.stdout.write(json.dumps({"seconds": seconds}))


def apply(url: str, authority: str, headers: dict[str, str]) -> float:
    """Apply the Deployment of every Takara; the seconds from the first apply to the last response."""
    import msgspec  # noqa: PLC0415 - the lists need none of this

    from takara_sync.desired import deployment_for, with_identity  # noqa: PLC0415
    from takara_sync.objects import Takara  # noqa: PLC0415

    trusted = ssl.create_default_context(cadata=authority)
    mine = local()

    def send(method: str, path: str, body: bytes | None = None, **more: str) -> bytes:
        if not hasattr(mine, "connection"):
            mine.connection = http.client.HTTPSConnection(urlsplit(url).netloc, context=trusted)
        mine.connection.request(method, path, body, headers | more)
        response = mine.connection.getresponse()
        content: bytes = response.read()
        if response.status not in (http.HTTPStatus.OK, http.HTTPStatus.CREATED):
            raise SystemExit(f"{method} {path}: {response.status} {content!r}")
        return content

    def send_apply(manifest: bytes, namespace: str, name: str) -> None:
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}?{_APPLY}"
        send("PATCH", path, manifest, **{"Content-Type": "application/apply-patch+yaml"})

    bodies = []
    for item in json.loads(send("GET", _TAKARAS))["items"]:
        takara = msgspec.json.decode(json.dumps(item), type=Takara)
        manifest: dict[str, Any] = with_identity(deployment_for(takara), takara, None)
        manifest["metadata"]["resourceVersion"] = "1"  # as takara-sync: it can only create
        bodies.append((json.dumps(manifest).encode(), takara.metadata.namespace, takara.metadata.name))
    began = time.monotonic()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda one: send_apply(*one), bodies))
    return time.monotonic() - began


def lists(url: str, authority: str, headers: dict[str, str]) -> float:
    """Read the three lists page by page; the seconds from the first request to the last response."""
    import urllib3  # noqa: PLC0415 - applying does not need it

    pool = urllib3.PoolManager(ssl_context=ssl.create_default_context(cadata=authority))
    began = time.monotonic()
    for path, query, accept in _LISTS:
        token = None
        while token != "":
            parts = urlencode(query | {"limit": "500"} | ({"continue": token} if token else {}))
            response = pool.request("GET", f"{url}{path}?{parts}", headers=headers | {"Accept": accept})
            token = _continue_token(response.data)
    return time.monotonic() - began


def _continue_token(page: bytes) -> str:
    """The continue token, before the items or, of a custom resource, after them; "" on the last page."""
    found = (page[:2000] + page[-2000:]).partition(b'"continue":"')[2]
    return found.partition(b'"')[0].decode()


if __name__ == "__main__":
    main()
