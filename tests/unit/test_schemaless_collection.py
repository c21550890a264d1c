"""Garbage collection in a simulator whose CRD has no schema: the controllers write by the same rules as everybody."""

from __future__ import annotations

import json

from takara_sync.simulator import Controllers, Request, Store

TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/default/takaras"


def ask(store: Store, method: str, path: str, body: object) -> int:
    headers = {"content-type": "application/json"}
    return store.handle(Request(method, path, headers=headers, body=json.dumps(body).encode())).status


def test_a_takara_that_no_schema_would_take_is_collected() -> None:
    store = Store(crd="schemaless")
    body = {"apiVersion": "maho.takara.org/v1alpha1", "kind": "Takara", "metadata": {"name": "a"}}
    assert ask(store, "POST", TAKARAS, body | {"spec": {"size": -1}}) == 201
    assert ask(store, "DELETE", f"{TAKARAS}/a", {"propagationPolicy": "Foreground"}) == 200
    Controllers(store).settle()
    assert store.handle(Request("GET", f"{TAKARAS}/a")).status == 404
