"""Explains connection errors: what went wrong, and what to do next."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator

from urllib3.exceptions import ProxyError

HINT = "Is the API server up, and is its address in the kubeconfig right?"
_PROXY = "Correct proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY."
_PASSWORD = "Put user and password into proxy-url or HTTPS_PROXY: http://user:password@proxy:3128."  # noqa: S105
_DNS = "Check the server of the kubeconfig, and whether you need a VPN or a proxy."
_SCHEME = "Is http or https right in the server of the kubeconfig?"
_NAMES = "Use an address of the server that is in its certificate, or set tls-server-name in the kubeconfig."
_TIMES = "Renew the certificate of the server. If it is valid today, correct the clock of this machine."
_HINTS = {9: _TIMES, 10: _TIMES, 62: _NAMES, 64: _NAMES}
"""By the codes of OpenSSL's X509_V_ERR: not yet valid, expired, host name mismatch, IP address mismatch.

https://docs.openssl.org/3.0/man3/X509_STORE_CTX_get_error/
"""
_CERTIFICATE = "Check the client-certificate of the kubeconfig's user, and whether it has expired."


def explained(error: BaseException) -> tuple[str, str]:
    """The meaning of `error` (of the client, urllib3 or the system), and the next step."""
    chain = list(causes(error))
    for each in chain:
        if refused := re.search(r"Tunnel connection failed: (\d+)", str(each)):  # http.client has no other information
            wants = refused[1] == "407"
            what = "the proxy wants a user and a password" if wants else "the proxy does not lead to the server"
            return f"{what} ({refused[1]})", _PASSWORD if wants else _PROXY
    if any(isinstance(each, ProxyError) for each in chain):
        return f"the proxy does not answer: {_plain(chain)}", _PROXY
    if any(isinstance(each, socket.gaierror) for each in chain):
        return f"no such server: {_plain(chain)}", _DNS
    reasons = [each.reason or "" for each in chain if isinstance(each, ssl.SSLError)]
    if any("ALERT" in reason for reason in reasons):
        return "the server refused the TLS handshake: it wants a client certificate, or another one", _CERTIFICATE
    if reasons and reasons[0] in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG"):
        return "the server does not speak TLS", _SCHEME
    return _plain(chain), HINT


def certificate_hint(code: int) -> str:
    """The next step for a certificate that was not accepted; empty for the one of `Untrusted`."""
    return _HINTS.get(code, "")


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """`error` and all its causes, the innermost last."""
    while error is not None:
        yield error
        wrapped = error.args[0] if error.args and isinstance(error.args[0], BaseException) else None
        error = wrapped or error.__cause__ or error.__context__


def _plain(chain: list[BaseException]) -> str:
    """The text of the first system error. The exceptions of the libraries around it say less."""
    words = (each.strerror.lower() for each in chain if isinstance(each, OSError) and each.strerror)
    return next(words, type(chain[-1]).__name__)
