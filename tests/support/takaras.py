"""Takaras as people write them."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

API_VERSION = "maho.takara.org/v1alpha1"


def takara(name: str, size: Any = 1, namespace: str | None = None, **spec: Any) -> Json:
    """The manifest of a Takara; `spec` is what its spec holds besides the size."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": API_VERSION, "kind": "Takara", "metadata": metadata, "spec": {"size": size} | spec}
