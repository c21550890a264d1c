"""Certificates by the openssl command: a good one, an expired one, one for another name; and their authority."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

PROXIED = "kube.example.invalid"  # no resolver knows it: only a proxy can lead there
_CONFIG = f"""
[req]
distinguished_name = dn
[dn]
[ca]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[here]
subjectAltName = IP:127.0.0.1, DNS:{PROXIED}
authorityKeyIdentifier = keyid
subjectKeyIdentifier = hash
[elsewhere]
subjectAltName = DNS:elsewhere.example.invalid
authorityKeyIdentifier = keyid
subjectKeyIdentifier = hash
"""
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")


@dataclass(frozen=True)
class Served:
    """What a server shows, and the authority that signed it (whom a client may or may not trust)."""

    authority: Path
    certificate: Path
    key: Path

    @property
    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context


class Certificates:
    """An authority in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "openssl.cnf").write_text(_CONFIG)
        self.authority = folder / "ca.crt"
        self._run("req", "-x509", *_KEY, "-days", "2", "-extensions", "ca", *self._names("ca"))

    def served(self, extensions: str = "here", *, expired: bool = False) -> Served:
        """A certificate for 127.0.0.1, or with `elsewhere` for another server."""
        name = f"{extensions}-expired" if expired else extensions
        request = self._folder / f"{name}.csr"
        key, certificate = self._folder / f"{name}.key", self._folder / f"{name}.crt"
        config = ("-config", "openssl.cnf", "-subj", f"/CN={name}")
        self._run("req", *_KEY, *config, "-keyout", str(key), "-out", str(request))
        signed = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "openssl.cnf")
        days = "-1" if expired else "2"
        into = ("-in", str(request), "-out", str(certificate))
        self._run("x509", "-req", *signed, "-extensions", extensions, "-days", days, *into)
        return Served(self.authority, certificate, key)

    def _names(self, name: str) -> tuple[str, ...]:
        return ("-config", "openssl.cnf", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt")

    def _run(self, *args: str) -> None:
        subprocess.run(["openssl", *args], cwd=self._folder, check=True, capture_output=True)
