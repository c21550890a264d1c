"""What stands between a user and the server has a message and a next step of its own."""

from __future__ import annotations

import re
import ssl
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from takara_sync.deadline import Deadline
from takara_sync.errors import ObjectError, PassStopped
from takara_sync.kube.api import Api
from takara_sync.kube.response import Request
from tests.support.certificates import PROXIED, Certificates, Served
from tests.wire.answers import status
from tests.wire.command import Command, kubeconfig
from tests.wire.server import FaultServer

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("hasty")


def said(path: Path) -> str:
    """The whole sentence that a request ends with."""
    api = Api.connect(str(path), request_timeout=5)
    with pytest.raises((ObjectError, PassStopped)) as raised:
        api.send(Request("GET", "/x"), Deadline(20))
    assert raised.value.hint
    return str(raised.value)


def test_a_name_that_no_resolver_knows(tmp_path: Path) -> None:
    assert "no such server: " in (words := said(kubeconfig(tmp_path, f"https://{PROXIED}")))
    assert "VPN" in words


def test_a_proxy_where_nobody_is(tmp_path: Path) -> None:
    words = said(kubeconfig(tmp_path, f"https://{PROXIED}", None, **{"proxy-url": "http://127.0.0.1:1"}))
    assert "the proxy does not answer: connection refused. Correct proxy-url" in words


@pytest.mark.parametrize(
    ("code", "words"),
    [(407, r"wants a user and a password \(407\)\. .*user:password@"), (503, r"does not lead to the server \(503\)")],
)
def test_a_proxy_that_refuses(tmp_path: Path, certificates: Certificates, code: int, words: str) -> None:
    with FaultServer(certificates.served(), proxy=True) as proxy:
        proxy.on("*", status(code), method="CONNECT")
        path = kubeconfig(tmp_path, f"https://{PROXIED}", None, **{"proxy-url": f"http://u:s3cret@{proxy.address}"})
        found = said(path)
    assert "s3cret" not in found
    assert re.search(words, found)


def test_tls_to_a_server_of_plain_http(tmp_path: Path, server: FaultServer) -> None:
    words = said(kubeconfig(tmp_path, server.url.replace("http:", "https:")))
    assert "the server does not speak TLS. Is http or https right" in words


def test_a_server_that_wants_a_certificate(tmp_path: Path, certificates: Certificates) -> None:
    class Locked(Served):
        @cached_property
        def context(self) -> ssl.SSLContext:
            context = super().context
            context.verify_mode = ssl.CERT_REQUIRED
            context.maximum_version = ssl.TLSVersion.TLSv1_2  # TLS 1.3 says it late, and a reset can come first
            context.load_verify_locations(self.authority)
            return context

    shown = certificates.served()
    with FaultServer(Locked(shown.authority, shown.certificate, shown.key)) as server:
        assert "it wants a client certificate" in said(kubeconfig(tmp_path, server))


def test_nothing_to_begin_with(command: Command) -> None:
    """No HOME, no passwd entry, no kubeconfig, and a locale that knows ASCII only."""
    del command.env["HOME"]
    ended = command.run("check", env={"LANG": "C", "LC_ALL": "C", "PYTHONPATH": "", "KUBECONFIG": ""})
    assert ended.code == 2
    assert "There is no kubeconfig at" in ended.stderr
    assert "Give --kubeconfig" in ended.stderr


def test_check_says_what_is_used(command: Command, server: FaultServer, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, server)
    path.write_text(path.read_text().replace("user: someone", "user: someone\n    namespace: mine"))
    ended = command.run("check", "--kubeconfig", str(path))
    assert f"\nusing: the kubeconfig {path}, context here, namespace mine, at {server.url}\n" in ended.stdout


def test_rights_in_one_namespace_only(command: Command, server: FaultServer, tmp_path: Path) -> None:
    server.on("/apis/apps/v1/deployments", status(403, "Forbidden"))
    assert "-n NAMESPACE" in command.once(kubeconfig(tmp_path, server)).report["error"]["hint"]
