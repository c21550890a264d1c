"""The product with one rule broken, in each of the ways that the machine is to notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from takara_sync.objects import Deployment, Takara
from tests.support.takaras import Json

Patch = Any


def instead(module: Any, name: str, value: Any) -> Patch:
    """A bug that puts another function in the place of one."""
    return patch.object(module, name, value)


def around(module: Any, name: str, change: Callable[..., Any]) -> Patch:
    """A bug that changes what a function returns: `change` gets that, and its arguments."""
    right = getattr(module, name)
    return patch.object(module, name, lambda *args, **more: change(right(*args, **more), *args))


def with_metadata_of_others(manifest: Json, _manifest: Json, _takara: Takara, deployment: Deployment | None) -> Json:
    """The live annotations are asked for, whosever they are."""
    live = deployment.as_manifest()["metadata"]["annotations"] if deployment else {}
    return manifest | {"metadata": manifest["metadata"] | {"annotations": live or {}}}


def everything_moves(right: Any) -> Callable[..., Any]:
    """A take-over that drops the entries of others."""
    return lambda entries, legacy: found[:1] if (found := right(entries, legacy)) else None
