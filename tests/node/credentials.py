"""The keys and users of the node's API server."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.control_plane.certificates import Certificates, make_certificates
from tests.control_plane.users import Users
from tests.node.parts import API_URL, NODE


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who the node's parts are. users.harness is the administrator, the scheduler too."""

    keys: Certificates
    users: Users
    kubelet: Path  # a kubeconfig


def make_credentials(folder: Path) -> Credentials:
    """Makes them all in the folder. Raises CalledProcessError where openssl will not."""
    keys = make_certificates(folder)
    users = Users(folder, API_URL, keys.authority)
    return Credentials(keys, users, _kubelet(folder, users))


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
