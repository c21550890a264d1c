"""Credentials in all their places, good and bad, for the tests."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kubernetes.config import incluster_config

from tests.wire.answers import good, status
from tests.wire.command import TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.wire.server import Wire


def only(token: str) -> Callable[[Wire], None]:
    """401 for every other token."""

    def answer(wire: Wire) -> None:
        known = wire.asked.headers.get("authorization", "").lower() == f"bearer {token}"
        (good() if known else status(401, "Unauthorized"))(wire)

    return answer


def plugin(code: str) -> dict[str, Any]:
    """A user whose credentials are printed by a Python program."""
    version = "client.authentication.k8s.io/v1"
    said = {"apiVersion": version, "interactiveMode": "Never", "command": sys.executable, "args": ["-c", code]}
    return {"exec": said}


def printing(token: str, *, first: str = "") -> str:
    made = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}
    return f"{first}\nimport json; print(json.dumps({made!r}))"


def in_pod(folder: Path, monkeypatch: pytest.MonkeyPatch, address: str, ca: str | Path) -> Path:
    """As in a pod: the variables, the authority and the token file (whose path is the result)."""
    token = folder / "mounted-token"
    token.write_text(TOKEN + "\n")
    host, port = address.split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(ca))
    return token
