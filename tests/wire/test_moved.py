"""A server that has moved, or shows another certificate: a new connection reads everything anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from takara_sync.deadline import Deadline
from takara_sync.errors import Untrusted
from takara_sync.kube.api import Api
from takara_sync.kube.connection import Connection
from takara_sync.kube.response import Request
from tests.support.certificates import Certificates
from tests.wire.command import TOKEN, kubeconfig
from tests.wire.credentials import in_pod, only
from tests.wire.server import FaultServer

if TYPE_CHECKING:
    from pathlib import Path


GET = Request("GET", "/x")


def two_contexts(path: Path) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load(path.read_text())
    config["clusters"].append({"name": "other", "cluster": {"server": "https://other"}})
    config["contexts"].append({"name": "there", "context": {"cluster": "other", "user": "someone"}})
    return config | {"current-context": "there"}


def test_who_switches_the_context_moves_no_running_loop(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, "https://one")
    first = Connection(str(path))
    config = two_contexts(path)
    path.write_text(yaml.safe_dump(config))
    assert Connection(str(path), before=first.chosen.context).client().configuration.host == "https://one"
    assert Connection(str(path)).client().configuration.host == "https://other"

    path.write_text(yaml.safe_dump(config | {"contexts": config["contexts"][1:]}))  # the context is gone
    assert Connection(str(path), before=first.chosen.context).client().configuration.host == "https://other"


def test_the_authority_of_a_pod_is_read_anew(
    tmp_path: Path, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file stays, its content changes, as the kubelet does it."""
    first, second = (Certificates(tmp_path_factory.mktemp(name)) for name in ("first", "second"))
    mounted = tmp_path / "ca.crt"
    mounted.write_bytes(first.authority.read_bytes())
    monkeypatch.setenv("HOME", str(tmp_path))
    with FaultServer(second.served()) as server:
        server.on("/x", only(TOKEN))
        in_pod(tmp_path, monkeypatch, server.address, mounted)
        with pytest.raises(Untrusted):
            Api.connect().send(GET, Deadline(20))
        mounted.write_bytes(second.authority.read_bytes())
        assert Api.connect().send(GET, Deadline(20)) == b"{}"
