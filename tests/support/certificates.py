"""Certificates by the openssl command: good ones, odd ones that Go takes, and bad ones; and their authorities."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PROXIED = "kube.example.invalid"  # no resolver knows it: only a proxy can lead there
_SERVERS = f"subjectAltName = IP:127.0.0.1, IP:0.0.0.0, DNS:localhost, DNS:{PROXIED}, DNS:locked.{PROXIED}"
_NO_IDS = "authorityKeyIdentifier = none\nsubjectKeyIdentifier = none"
_IDS = "authorityKeyIdentifier = keyid\nsubjectKeyIdentifier = hash"
_CONFIG = f"""
[req]
distinguished_name = dn
[dn]
[ca]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[ca-not-critical]
basicConstraints = CA:true
keyUsage = keyCertSign
{_NO_IDS}
[ca-without-usage]
basicConstraints = critical, CA:true
{_NO_IDS}
[here]
{_SERVERS}
{_IDS}
[api-server]  # all that a strict verifier asks for; CPython is one from 3.13 on
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1, IP:10.0.0.1, DNS:localhost, DNS:kubernetes.default.svc
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[without-ids]
{_SERVERS}
{_NO_IDS}
[elsewhere]
subjectAltName = DNS:elsewhere.example.invalid
{_IDS}
[common-name]
{_IDS}
[wildcard]
subjectAltName = DNS:*.example.invalid
{_IDS}
[client]
extendedKeyUsage = clientAuth
{_IDS}
[not-for-servers]
{_SERVERS}
extendedKeyUsage = clientAuth
{_IDS}
"""
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")


@dataclass(frozen=True)
class Served:
    """What a server shows, and the authority that signed it (whom a client may or may not trust).

    clients: the authority of the client certificates that it takes.
    """

    authority: Path
    certificate: Path
    key: Path
    clients: Path | None = None

    @cached_property
    def context(self) -> ssl.SSLContext:
        """Its connections know, as `asked_name`, the name that a client asked for."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers("DEFAULT:@SECLEVEL=0")  # it shows bad certificates too
        context.load_cert_chain(self.certificate, self.key)
        context.sni_callback = lambda connection, name, _: setattr(connection, "asked_name", name)
        if self.clients:
            context.verify_mode = ssl.CERT_OPTIONAL
            context.load_verify_locations(self.clients)
        return context


class Certificates:
    """An authority in a folder of its own. extensions: the section of the configuration that says what it is."""

    def __init__(self, folder: Path, extensions: str = "ca") -> None:
        self._folder = folder
        (folder / "openssl.cnf").write_text(_CONFIG)
        self.authority = folder / "ca.crt"
        names = ("-config", "openssl.cnf", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.crt")
        self._run("req", "-x509", *_KEY, "-days", "2", "-extensions", extensions, *names)

    def served(
        self,
        extensions: str = "here",
        *,
        expired: bool = False,
        subject: str = "",
        key: tuple[str, ...] = _KEY,
        digest: str = "sha256",
    ) -> Served:
        """A certificate for 127.0.0.1 and some names, or what another section says, with its key."""
        name = "-".join([extensions, *(["expired"] if expired else []), key[1].replace(":", ""), digest])
        request = self._folder / f"{name}.csr"
        served = Served(self.authority, self._folder / f"{name}.crt", self._folder / f"{name}.key")
        config = ("-config", "openssl.cnf", "-subj", f"/CN={subject or name}")
        self._run("req", *key, *config, "-keyout", str(served.key), "-out", str(request))
        signed = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "openssl.cnf", f"-{digest}")
        into = ("-in", str(request), "-out", str(served.certificate), "-days", "-1" if expired else "2")
        self._run("x509", "-req", *signed, "-extensions", extensions, *into)
        return served

    def below(self, folder: Path, *, expired: bool = False) -> Certificates:
        """An authority that this one has signed."""
        other = Certificates(folder)
        signed = ("-CA", str(self.authority), "-CAkey", str(self._folder / "ca.key"), "-CAcreateserial")
        other._run("req", "-new", "-key", "ca.key", "-config", "openssl.cnf", "-subj", "/CN=below", "-out", "ca.csr")
        more = ("-extfile", "openssl.cnf", "-extensions", "ca", "-in", "ca.csr", "-out", "ca.crt")
        other._run("x509", "-req", *signed, *more, "-days", "-1" if expired else "2")
        return other

    def _run(self, *args: str) -> None:
        subprocess.run(["openssl", *args], cwd=self._folder, check=True, capture_output=True)
