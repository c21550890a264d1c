"""The keys of one control plane, made by the openssl command in some milliseconds.

The API server would make its own, but RSA ones, which takes it up to a second.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Everything that a strict verifier asks for (CPython from 3.13 on verifies strictly by default).
_EXTENSIONS = """
[req]
distinguished_name = dn
[dn]
[ca]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1, IP:10.0.0.1, DNS:localhost, DNS:kubernetes.default.svc
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""
_CURVE = "prime256v1"


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
    config = folder / "openssl.cnf"
    config.write_text(_EXTENSIONS)
    made = Certificates(folder / "ca.crt", folder / "server.crt", folder / "server.key", folder / "sa.key")
    authority_key = folder / "ca.key"
    new_key = ["-newkey", "ec", "-pkeyopt", f"ec_paramgen_curve:{_CURVE}", "-noenc"]
    request = ["req", "-x509", *new_key, "-days", "2", "-config", str(config)]
    signed_by = ["-CA", str(made.authority), "-CAkey", str(authority_key)]
    _openssl(*request, *_names("ca", authority_key, made.authority))
    _openssl(*request, *signed_by, *_names("server", made.server_key, made.server))
    # Not genpkey: the API server finds no public key in a PKCS#8 file.
    _openssl("ecparam", "-name", _CURVE, "-genkey", "-noout", "-out", str(made.service_account_key))
    return made


def _names(extensions: str, key: Path, certificate: Path) -> list[str]:
    subject = f"/CN=takara-sync tests {extensions}"
    return ["-extensions", extensions, "-subj", subject, "-keyout", str(key), "-out", str(certificate)]


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
