"""The client of the `kubernetes` package, with TLS and proxies like kubectl. The import takes 0.2 s and 44 MiB."""

from __future__ import annotations

import os
import re
import ssl
import sys
import tempfile
from collections.abc import Iterable
from typing import IO
from urllib.parse import quote, unquote, urlsplit

from kubernetes.client import ApiClient, Configuration
from kubernetes.client.rest import should_bypass_proxies
from urllib3 import HTTPHeaderDict
from urllib3.util import make_headers

from takara_sync.errors import ConfigurationError
from takara_sync.kube.kubeconfig import Chosen, User, is_loopback, unusable
from takara_sync.kube.timed import timed

_HEADER_NAME = "!#$&'*+^`|"  # RFC 9110 allows these in a header name, and letters, digits and -._~; not %


class Client:
    """The connections of an `ApiClient`, and the headers of each request.

    Requests go directly to `pools`: `ApiClient.call_api` needs more CPU for a request than urllib3 and http.client
    together. authorization: the value of the header; empty for none.
    """

    def __init__(self, client: ApiClient, headers: Iterable[tuple[str, str]]) -> None:
        self.url, self.pools = client.configuration.host, client.rest_client.pool_manager
        self.authorization = ""
        self._client = client
        self._headers = tuple(headers)

    def headers_for(self, accept: str, content_type: str) -> HTTPHeaderDict:
        """The headers of a request. Several groups to impersonate need several headers of the same name."""
        headers = HTTPHeaderDict([*self._headers, ("Accept", accept)])
        if content_type:
            headers["Content-Type"] = content_type
        if self.authorization:
            headers["Authorization"] = self.authorization
        return headers

    def close(self) -> None:
        """Close idle connections."""
        self._client.close()


def new_client(
    url: str, chosen: Chosen, certificate: tuple[bytes, bytes] | None, connections: int, user_agent: str
) -> Client:
    """A client for `url` that does not retry. certificate: certificate and key in PEM.

    Raises:
        ConfigurationError: a certificate, a key or the proxy is not usable. The message never contains a key or the URL
            of the proxy, which may contain a password.
    """
    cluster, proxy = chosen.cluster, chosen.cluster.get("proxy-url") or proxy_for(url)
    insecure = bool(cluster.get("insecure-skip-tls-verify"))
    what = "certificate-authority holds no certificate"
    try:
        encrypted = any(each.startswith("https:") for each in (url, proxy))
        tls = tls_context(chosen.pem("certificate-authority"), insecure=insecure or not encrypted)
        what = "client-certificate and client-key are not a pair"
        if certificate:
            _load(tls, *certificate)
    except (ssl.SSLError, ValueError) as error:
        raise unusable(chosen.source, f"its {what} in PEM") from error
    configuration = Configuration(
        host=url,
        retries=False,  # urllib3 would sleep for any time in a Retry-After header
        connection_pool_maxsize=connections,
        verify_ssl=not insecure,
        tls_server_name=cluster.get("tls-server-name") or None,
        proxy=re.sub("^socks5:", "socks5h:", proxy),  # the proxy resolves the host name
        no_proxy="",  # `proxy_for` has applied it already
        proxy_headers=_proxy_headers(proxy),
        proxy_ssl_context=tls,
    )
    try:
        client = ApiClient(configuration)
    except ImportError as error:
        raise ConfigurationError("A SOCKS proxy needs the package PySocks", "Run: pip install pysocks") from error
    except Exception as error:
        what = f"The proxy cannot be used: {type(error).__name__}"
        raise ConfigurationError(what, "Correct proxy-url in the kubeconfig, or HTTPS_PROXY.") from error
    client.rest_client.pool_manager.connection_pool_kw["ssl_context"] = tls
    timed(client.rest_client.pool_manager)
    near = cluster.get("disable-compression") or is_loopback(urlsplit(url).hostname)
    encoding = ("Accept-Encoding", "identity" if near else "gzip")
    return Client(client, [("User-Agent", user_agent), encoding, *_acts_as(chosen.user)])


def _acts_as(user: User) -> tuple[tuple[str, str], ...]:
    """The headers of https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation."""
    groups, extra = user.get("as-groups") or (), user.get("as-user-extra") or {}
    said = [("User", user.get("as")), ("Uid", user.get("as-uid")), *(("Group", group) for group in groups)]
    said += [(f"Extra-{quote(key, safe=_HEADER_NAME)}", value) for key, values in extra.items() for value in values]
    # http.client encodes headers in Latin-1; this way the bytes are UTF-8.
    return tuple((f"Impersonate-{name}", value.encode().decode("latin-1")) for name, value in said if value)


# -------------------------------------------------------------- TLS


def tls_context(authority: bytes, *, insecure: bool = False) -> ssl.SSLContext:
    """An SSL context that accepts the same certificates as Go's crypto/x509.

    authority: the trusted certificates in PEM, b"" for those of the system.
    Raises ssl.SSLError or ValueError if it contains no certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Go trusts every given certificate, even an intermediate one; Python 3.11 does not. Python 3.13 requires an
    # Authority Key Identifier and critical basicConstraints; Go does not.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.hostname_checks_common_name = False
    context.set_ciphers("DEFAULT:@SECLEVEL=1")  # allows RSA keys of 1,024 bits; SHA-1 is still rejected
    if insecure:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    elif authority:
        context.load_verify_locations(cadata=authority.decode("ascii", "ignore"))
    else:
        context.load_default_certs()
    return context


def _load(tls: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load our client certificate and key. Neither is in a file with a name."""
    with _unnamed(certificate) as first, _unnamed(key) as second:
        paths = f"/dev/fd/{first.fileno()}", f"/dev/fd/{second.fileno()}"
        tls.load_cert_chain(paths[0], paths[1], "")  # with no password here, OpenSSL would ask on the terminal


def _unnamed(secret: bytes) -> IO[bytes]:
    """A file without a name, because OpenSSL reads keys only from files. On Linux it is in memory."""
    linux = sys.platform == "linux"
    file = os.fdopen(os.memfd_create("pem"), "wb+") if linux else tempfile.TemporaryFile()  # noqa: SIM115
    file.write(secret)
    file.seek(0)
    return file


# -------------------------------------------------------------- proxies


def proxy_for(url: str) -> str:
    """The proxy for the server at `url` from the environment, "" for none.

    The rules are those of Go, https://pkg.go.dev/golang.org/x/net/http/httpproxy: no proxy for loopback; a proxy
    without a scheme is an http proxy; `*.x` and `.x` match subdomains of x, and `x` matches x and its subdomains.
    """
    server = urlsplit(url)
    proxy, host = _variable(f"{server.scheme}_proxy"), server.hostname or ""
    entries = [entry.strip().lower().replace("*.", ".", 1) for entry in _variable("no_proxy").split(",")]
    if not host.strip("0123456789."):  # an IP address has no subdomains
        entries = [entry for entry in entries if entry == "*" or "/" in entry or entry.partition(":")[0] == host]
    direct = ",".join(entry for entry in entries if entry != f".{host}")
    port = "" if server.port else ":443" if server.scheme == "https" else ":80"
    if not proxy or is_loopback(host) or should_bypass_proxies(f"{server.scheme}://{server.netloc}{port}", direct):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _variable(name: str) -> str:
    return os.environ.get(name.upper()) or os.environ.get(name) or ""


def _proxy_headers(proxy: str) -> dict[str, str] | None:
    """The header with user and password for the proxy, by RFC 7617 in UTF-8."""
    who = urlsplit(proxy).netloc.rpartition("@")[0]
    name, _, password = who.partition(":")
    pair = f"{unquote(name)}:{unquote(password)}".encode().decode("latin-1")
    return make_headers(proxy_basic_auth=pair) if who else None
