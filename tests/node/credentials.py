"""The keys and users of the node's API server."""

from __future__ import annotations

import secrets
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from tests.control_plane.certificates import make_certificates
from tests.control_plane.users import Users
from tests.node.parts import API_ADDRESS, API_URL, NODE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.control_plane.certificates import Certificates

# As in tests/control_plane/certificates.py, for the address that pods know the API server by.
_SERVER = f"""
[req]
distinguished_name = dn
[dn]
[server]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = IP:{API_ADDRESS}, DNS:kubernetes.default.svc
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who the node's parts are. users.harness is the administrator, the scheduler too."""

    authority: Path
    server: Path
    server_key: Path
    keys: Certificates  # the service account key is in here
    users: Users
    kubelet: Path  # a kubeconfig


def make_credentials(folder: Path) -> Credentials:
    """Makes them all in the folder. Raises CalledProcessError where openssl will not."""
    keys = make_certificates(folder)
    users = Users(folder, API_URL, keys.authority)
    server, server_key = folder / "node.crt", folder / "node.key"
    _sign(keys, folder, server, server_key)
    return Credentials(keys.authority, server, server_key, keys, users, _kubelet(folder, users))


def _sign(keys: Certificates, folder: Path, certificate: Path, key: Path) -> None:
    config = folder / "node.cnf"
    config.write_text(_SERVER)
    request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "2"]
    signed_by = ["-CA", str(keys.authority), "-CAkey", str(folder / "ca.key")]
    names = ["-config", str(config), "-extensions", "server", "-subj", "/CN=takara-sync tests node"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", *request, *signed_by, *names, *files], check=True, capture_output=True)


def _kubelet(folder: Path, users: Users) -> Path:
    """A user as the Node authorizer wants it, told to the API server, which has not been started yet."""
    token = secrets.token_hex(16)
    with users.token_file.open("a") as lines:
        lines.write(f"{token},system:node:{NODE},{NODE},system:nodes\n")
    config = yaml.safe_load(users.harness.kubeconfig.read_text())
    config["users"][0]["user"]["token"] = token
    path = folder / "kubelet.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    path.chmod(0o600)
    return path
