"""One exchange with the API server: a request out, an answer in, within its time; what went wrong in our words."""

from __future__ import annotations

import ssl
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

import urllib3

from takara_sync.errors import TakaraSyncError, Unauthorized, Unavailable, Unreadable, Untrusted
from takara_sync.kube.answers import Again, Answer, Request
from takara_sync.kube.watchdog import Watchdog

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

PAGE_BYTES_MAX = 256 * 2**20
_CHUNK = 2**16
_SECRET_BYTES_MIN = 16
_HINT = "Is the API server up, and is its address in the kubeconfig right? The next pass tries again."


def exchange(client: ApiClient, request: Request, seconds: float) -> Answer:
    """The whole answer to one request, had within `seconds`, headers and body included.

    Raises:
        Again: no answer, or a part of one: refused, reset, cut, too slow.
        Untrusted: the certificate. Unauthorized: the token is none. Unreadable: the address is none.
        Unavailable: an answer without end.
    """
    with Watchdog(seconds) as watchdog:
        try:
            answer = _exchange(client, request, seconds)
            if watchdog.bitten:  # the end that it saw was the watchdog's
                raise TimeoutError
        except TakaraSyncError:
            raise
        except _wire_errors() as error:
            raise _translated(request, error, seconds if watchdog.bitten else None) from error
    return answer


def _wire_errors() -> tuple[type[Exception], ...]:
    """What an exchange raises for reasons outside of this program: refused, reset, cut, no TLS, no token file."""
    from kubernetes.client.exceptions import OpenApiException  # noqa: PLC0415 - loaded with the client
    from kubernetes.config import ConfigException  # noqa: PLC0415

    return (OSError, ValueError, urllib3.exceptions.HTTPError, HTTPException, OpenApiException, ConfigException)


def _exchange(client: ApiClient, request: Request, seconds: float) -> Answer:
    headers = {"Accept": request.accept, "Accept-Encoding": "gzip"}
    if request.body is not None:
        headers["Content-Type"] = request.content_type
    method, url, headers, *_ = client.param_serialize(
        request.method,
        request.path,
        query_params=list(request.query),
        header_params=headers,
        auth_settings=["BearerToken"],
    )
    response = client.call_api(
        method, url, _with_clean_token(headers), body=request.body, _request_timeout=(seconds, seconds)
    ).response
    try:
        _must_be_framed(response)
        body = _read(request, response)
    except BaseException:
        response.close()  # the rest of the answer must not become the next one's
        raise
    response.release_conn()
    return Answer(response.status, response.headers, _without_token(body, headers))


def _with_clean_token(headers: dict[str, Any]) -> dict[str, Any]:
    """The headers with the token stripped: a mounted file may end with a newline.

    Raises Unauthorized where the token can be no header at all; http.client would quote it in its error.
    """
    for name in [name for name in headers if name.lower() == "authorization"]:
        token = headers[name] = headers[name].strip()
        if not (token.isascii() and token.isprintable()):
            raise Unauthorized("The bearer token holds characters that no HTTP header can carry")
    return headers


def _without_token(body: bytes, headers: dict[str, Any]) -> bytes:
    """The body with our own token masked: a proxy that echoes the request must not bring it into a log or a status.

    Only a text that is long enough to be a secret is looked for; a short one would be found in every name.
    """
    for name in [name for name in headers if name.lower() == "authorization"]:
        token = headers[name].rpartition(" ")[2].encode()
        if len(token) >= _SECRET_BYTES_MIN:
            body = body.replace(token, b"*" * 8)
    return body


def _must_be_framed(response: urllib3.HTTPResponse) -> None:
    """An answer that was cut within its headers looks like a short one whose body ends with the connection.

    The API server always says how long an answer is (RFC 9112, section 6.3), so one that does not is a part of one.
    """
    framed = response.headers.get("Content-Length") or response.headers.get("Transfer-Encoding")
    if response.status < HTTPStatus.MULTIPLE_CHOICES and response.status != HTTPStatus.NO_CONTENT and not framed:
        raise urllib3.exceptions.ProtocolError("the answer has no length")


def _read(request: Request, response: urllib3.HTTPResponse) -> bytes:
    chunks, size = [], 0
    for chunk in response.stream(_CHUNK, decode_content=True):
        size += len(chunk)
        if size > PAGE_BYTES_MAX:
            raise Unavailable(f"{request} was answered with more than {PAGE_BYTES_MAX >> 20} MiB")
        chunks.append(chunk)
    return b"".join(chunks)


def _translated(request: Request, error: Exception, took: float | None) -> Exception:
    """Our error for what the client, urllib3 or the system raised. `took`: seconds, where the watchdog bit."""
    refused = isinstance(error, urllib3.exceptions.NewConnectionError)  # which urllib3 counts among its timeouts
    if took is not None or (isinstance(error, urllib3.exceptions.TimeoutError) and not refused):
        seconds = f" within {took:.1f} s" if took is not None else " in time"
        return Again(Unavailable(f"{request} was not answered{seconds}", _HINT), answered=False)
    if (untrusted := _cause(error, ssl.SSLCertVerificationError)) is not None:
        return Untrusted(f"The certificate of the API server is not trusted: {untrusted.verify_message}")
    if isinstance(error, urllib3.exceptions.LocationValueError):
        return Unreadable("The server address of the kubeconfig is no usable URL", "Correct clusters[].cluster.server.")
    return Again(Unavailable(f"{request} failed: {_plain(error)}", _HINT), answered=False)


def _cause(
    error: BaseException | None, kind: type[ssl.SSLCertVerificationError]
) -> ssl.SSLCertVerificationError | None:
    """The first error of this kind behind `error`."""
    while error is not None:
        if isinstance(error, kind):
            return error
        wrapped = error.args[0] if error.args and isinstance(error.args[0], BaseException) else None
        error = wrapped or error.__cause__ or error.__context__
    return None


def _plain(error: BaseException) -> str:
    """The innermost system error in words; what libraries wrap around it says less."""
    while True:
        inner = error.__cause__ or error.__context__
        if isinstance(error, OSError) and error.strerror:
            return error.strerror.lower()
        if inner is None:
            return type(error).__name__
        error = inner
