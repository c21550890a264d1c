"""Certificates that are not to be trusted, and proxies on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from takara_sync.deadline import Deadline
from takara_sync.errors import Unreadable
from takara_sync.kube.api import Api
from takara_sync.kube.response import Request
from tests.support.certificates import PROXIED, Certificates
from tests.wire.answers import HEAD, drip, good
from tests.wire.command import Command, kubeconfig
from tests.wire.server import FaultServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GET = Request("GET", "/x")


@pytest.mark.parametrize(
    ("extensions", "expired", "words"),
    [
        ("here", True, "expired.*Renew the certificate of the server.*clock"),
        ("elsewhere", False, "127.0.0.1.*tls-server-name"),
    ],
    ids=["expired", "of another server"],
)
def test_a_bad_certificate_is_not_tried_again(
    certificates: Certificates, connect: Callable[..., Api], extensions: str, expired: bool, words: str
) -> None:
    with FaultServer(certificates.served(extensions, expired=expired)) as server:
        with pytest.raises(Unreadable, match=rf"not trusted: .*{words}") as raised:
            connect(server).send(GET, Deadline(20))
        assert (server.requests, server.connections) == ([], 1)
    assert raised.value.exit_code == 3
    assert ("clock" in raised.value.hint, "certificate-authority" in raised.value.hint) == (expired, False)


def test_an_authority_that_is_not_the_servers(certificates: Certificates, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = str(Certificates(tmp_path / "other").authority)
    with FaultServer(certificates.served()) as server:
        path = kubeconfig(tmp_path, server.url, None, **{"certificate-authority": other})
        with pytest.raises(Unreadable, match=r"not trusted: .*Check the certificate-authority of the kubeconfig\.$"):
            Api.connect(path).send(GET, Deadline(20))


def test_a_certificate_that_is_not_checked_is_said_once(command: Command, tls_server: FaultServer) -> None:
    path = kubeconfig(command.home, tls_server.url, None, **{"insecure-skip-tls-verify": True})
    quiet, normal = (command.once(path, "--log-level", level).stderr for level in ("error", "info"))
    assert "Insecure" not in quiet + normal
    assert normal.count("whose certificate is not checked") == 1


@pytest.mark.parametrize("shown", ["leaf", "chain"])
def test_an_authority_that_another_one_signed_is_enough(
    certificates: Certificates, connect: Callable[..., Api], tmp_path: Path, shown: str
) -> None:
    """As for kubectl: Go trusts what a kubeconfig names, be it a root or not. The server may show it too."""
    (tmp_path / "below").mkdir()
    served = certificates.below(tmp_path / "below").served()
    if shown == "chain":
        served.certificate.write_text(served.certificate.read_text() + served.authority.read_text())
    with FaultServer(served) as server:
        server.on("/x", good(b'"trusted"'))
        assert connect(server).send(GET, Deadline(20)) == b'"trusted"'


def test_http_to_a_server_of_tls(command: Command, tls_server: FaultServer) -> None:
    ended = command.once(kubeconfig(command.home, tls_server.url.replace("https", "http")), "--pass-timeout", "1s")
    assert ended.code in (3, 4)
    assert tls_server.requests == []


# ------------------------------------------------------------------ proxies


@pytest.fixture
def proxy(certificates: Certificates) -> Iterator[FaultServer]:
    """A proxy, and at the end of its tunnel a server for a name that no resolver knows."""
    with FaultServer(certificates.served(), proxy=True) as proxy:
        yield proxy


def far(folder: Path, proxy: FaultServer, **cluster: str) -> Path:
    """A kubeconfig for the server that only the proxy can reach."""
    assert proxy.tls
    trusted = {"certificate-authority": str(proxy.tls.authority)}
    return kubeconfig(folder, f"https://{PROXIED}:6443", None, **trusted, **cluster)


def test_https_proxy_is_honoured_and_sees_no_token(command: Command, proxy: FaultServer, tmp_path: Path) -> None:
    ended = command.once(far(tmp_path, proxy), HTTPS_PROXY=f"http://{proxy.address}")
    assert ended.code == 0
    tunnels = proxy.asked(f"{PROXIED}:6443", "CONNECT")
    assert tunnels
    assert all("authorization" not in tunnel.headers for tunnel in tunnels)
    assert len(proxy.asked(method="GET")) == 3


def test_no_proxy_is_honoured(command: Command, tls_server: FaultServer, tmp_path: Path) -> None:
    with FaultServer() as unused:
        env = {"HTTPS_PROXY": unused.url, "NO_PROXY": "example.com,127.0.0.0/8"}
        assert command.once(kubeconfig(tmp_path, tls_server), **env).code == 0
        assert unused.connections == 0
    assert len(tls_server.requests) == 3


def test_the_kubeconfigs_own_proxy_comes_first(command: Command, proxy: FaultServer, tmp_path: Path) -> None:
    config = far(tmp_path, proxy, **{"proxy-url": f"http://{proxy.address}"})
    assert command.once(config, HTTPS_PROXY="http://127.0.0.1:1").code == 0


@pytest.mark.parametrize("url", ["socks5://127.0.0.1:1", "http://127.0.0.1:1"])
def test_a_proxy_where_nobody_is_is_not_gone_round(
    command: Command, server: FaultServer, tmp_path: Path, url: str
) -> None:
    ended = command.once(kubeconfig(tmp_path, server, None, **{"proxy-url": url}), "--pass-timeout", "1s")
    assert ended.code in (3, 4)
    assert server.connections == 0


def test_a_request_through_a_proxy_has_an_end_too(
    hasty: None,  # noqa: ARG001
    proxy: FaultServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.address}")
    api = Api.connect(str(far(tmp_path, proxy)), request_timeout=0.5)
    proxy.on("/x", drip(HEAD), good(b'"whole"'))
    assert api.send(GET, Deadline(20)) == b'"whole"'
    assert len(proxy.asked("/x")) == 2
    api.close()
