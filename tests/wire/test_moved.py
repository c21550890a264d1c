"""A server that has moved, or shows another certificate, while a loop runs: what the credentials say is read anew."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from takara_sync.cluster import Deadline
from takara_sync.errors import Unavailable, Untrusted
from takara_sync.kube.answers import Request
from takara_sync.kube.api import Api
from tests.wire.certificates import Certificates
from tests.wire.command import TOKEN, kubeconfig
from tests.wire.credentials import in_pod, only, plugin, printing
from tests.wire.server import FaultServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("hasty")

GET = Request("GET", "/x")


@pytest.fixture
def other() -> Iterator[FaultServer]:
    with FaultServer() as server:
        yield server


@pytest.fixture
def gone() -> str:
    """The URL of a server that is no more."""
    with FaultServer() as server:
        return server.url


def test_a_rewritten_kubeconfig_leads_to_the_new_server(gone: str, other: FaultServer, tmp_path: Path) -> None:
    other.on("/x", only("new"))
    api = Api.connect(str(kubeconfig(tmp_path, gone)))
    kubeconfig(tmp_path, other, {"token": "new"})

    assert [api.send(GET, Deadline(20)) for _ in range(3)] == [b"{}"] * 3
    assert len(other.requests) == 3


def test_a_server_that_is_only_away_gets_its_four_tries(gone: str, tmp_path: Path, caplog: Any) -> None:
    caplog.set_level(logging.INFO)
    api = Api.connect(str(kubeconfig(tmp_path, gone)))
    deadline = Deadline(20)
    for _ in range(2):
        with pytest.raises(Unavailable, match="refused"):
            api.send(GET, deadline)
    assert caplog.text.count("try 4 of 4") == 2
    assert caplog.text.count("using the kubeconfig") == 2  # at the start, and once in this pass


def test_a_kubeconfig_that_is_half_written_is_no_news(gone: str, other: FaultServer, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, gone)
    api = Api.connect(str(path))
    path.write_text(path.read_text()[:50])
    with pytest.raises(Unavailable, match="refused"):
        api.send(GET, Deadline(20))

    kubeconfig(tmp_path, other)
    other.on("/x", only(TOKEN))
    assert api.send(GET, Deadline(20)) == b"{}"


def test_who_switches_the_context_moves_no_running_loop(gone: str, other: FaultServer, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, gone)
    api = Api.connect(str(path))
    config = yaml.safe_load(path.read_text())
    config["clusters"].append({"name": "other", "cluster": {"server": other.url}})
    config["contexts"].append({"name": "there", "context": {"cluster": "other", "user": "someone"}})
    path.write_text(yaml.safe_dump(config | {"current-context": "there"}))

    with pytest.raises(Unavailable):
        api.send(GET, Deadline(20))
    assert other.requests == []


def test_a_changed_certificate_authority_is_read_anew(tmp_path: Path, tmp_path_factory: Any) -> None:
    first, second = (Certificates(tmp_path_factory.mktemp(name)) for name in ("first", "second"))
    with FaultServer(first.served()) as old:
        api = Api.connect(str(kubeconfig(tmp_path, old)))
        old.on("/x", only(TOKEN))
        assert api.send(GET, Deadline(20)) == b"{}"
    with FaultServer(second.served()) as new:
        new.on("/x", only(TOKEN))
        kubeconfig(tmp_path, new.url, None, **{"certificate-authority": str(first.authority)})
        with pytest.raises(Untrusted, match="certificate-authority"):
            api.send(GET, Deadline(20))
        kubeconfig(tmp_path, new)
        assert api.send(GET, Deadline(20)) == b"{}"
    api.close()


def test_the_authority_of_a_pod_is_read_anew(
    tmp_path: Path, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file stays, its content changes, as the kubelet does it."""
    first, second = (Certificates(tmp_path_factory.mktemp(name)) for name in ("first", "second"))
    mounted = tmp_path / "ca.crt"
    mounted.write_bytes(first.authority.read_bytes())
    with FaultServer(second.served()) as server:
        server.on("/x", only(TOKEN))
        in_pod(tmp_path, monkeypatch, server.address, mounted)
        api = Api.connect()
        with pytest.raises(Untrusted):
            api.send(GET, Deadline(20))
        mounted.write_bytes(second.authority.read_bytes())
        assert api.send(GET, Deadline(20)) == b"{}"
    api.close()


def test_a_plugin_runs_once_a_pass_while_the_server_is_away(gone: str, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    code = printing(TOKEN, first=f"open({str(runs)!r}, 'a').write('x')")
    api = Api.connect(str(kubeconfig(tmp_path, gone, plugin(code))))
    deadline = Deadline(20)
    for _ in range(3):
        with pytest.raises(Unavailable):
            api.send(GET, deadline)
    assert len(runs.read_text()) == 2
