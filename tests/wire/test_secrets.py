"""A client's key in a kubeconfig gets into no other file, not even when the process is killed."""

from __future__ import annotations

import base64
import time
from typing import TYPE_CHECKING, Any

import pytest

from takara_sync.kube.connection import Connection
from tests.wire.command import Command, kubeconfig

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.certificates import Certificates
    from tests.wire.server import FaultServer


@pytest.fixture
def pair(certificates: Certificates) -> dict[str, Any]:
    """A user with a certificate and its key in the kubeconfig itself."""
    served = certificates.served("client", subject="someone")
    files = {"client-certificate-data": served.certificate, "client-key-data": served.key}
    return {key: base64.b64encode(path.read_bytes()).decode() for key, path in files.items()}


def test_no_folder_for_temporary_files_is_needed(
    tmp_path: Path, pair: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    assert Connection(str(kubeconfig(tmp_path, "https://h", pair))).client()


@pytest.mark.parametrize("requests", [0, 1, 5])
def test_nothing_is_left_by_a_loop_that_is_killed(
    command: Command, tls_server: FaultServer, tmp_path: Path, pair: dict[str, Any], requests: int
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    path = kubeconfig(tmp_path, tls_server, pair)
    process = command.start("--interval", "1", "--kubeconfig", str(path), env={"TMPDIR": str(temporary)})
    end = time.monotonic() + 20
    while len(tls_server.requests) < requests and time.monotonic() < end:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert len(tls_server.requests) >= requests
    assert {file for file in tmp_path.rglob("*") if file.is_file()} == {path}
