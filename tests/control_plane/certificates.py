"""The keys of one control plane, made by the openssl command in some milliseconds.

The API server would make its own, but RSA ones, which takes it up to a second.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support import certificates

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Certificates:
    """Paths of PEM files. Only the authority is trusted, and it signed one certificate.

    It is for 127.0.0.1, and for 10.0.0.1, where the pods of tests/node find the API server.
    """

    authority: Path
    server: Path
    server_key: Path
    service_account_key: Path


def make_certificates(folder: Path) -> Certificates:
    """Makes a certificate authority of its own, what the API server serves with, and a signing key.

    Raises CalledProcessError or FileNotFoundError where the openssl command (3.0 or later) will not.
    """
    served = certificates.Certificates(folder).served("api-server")
    key = folder / "sa.key"
    # Not genpkey: the API server finds no public key in a PKCS#8 file.
    making = ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(key)]
    subprocess.run(making, check=True, capture_output=True)
    return Certificates(served.authority, served.certificate, served.key, key)
