"""One request to the API server and its complete response, in limited time; errors become our own."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Protocol
from urllib.parse import urlencode

import urllib3

from takara_sync.deadline import Deadline
from takara_sync.errors import ObjectError, Retryable, TakaraSyncError, Unreadable, Untrusted
from takara_sync.kube.connection import Connection
from takara_sync.kube.response import Request, Response
from takara_sync.kube.trouble import HINT, causes, explained

PAGE_BYTES_MAX = 256 * 2**20
_CHUNK = 2**16
_WIRE_ERRORS = (OSError, ValueError, urllib3.exceptions.HTTPError, HTTPException)
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SECRET_BYTES_MIN = 16  # a shorter token may be part of many messages by chance


class Transport(Protocol):
    """How `Api` sends requests. Implement it to test without HTTP, or to send requests in another way."""

    def prepare(self, deadline: Deadline) -> None:
        """Wait until a request can be sent, for example for the renewal of credentials.

        Raises:
            PassStopped: no request can be sent.
        """

    def send(self, request: Request, seconds: float) -> Response:
        """The complete response, headers and body, within `seconds`. Several threads may call it.

        Raises:
            Retryable: no complete response. PassStopped: no further request can succeed.
        """

    def close(self) -> None:
        """Close idle connections."""


class HttpTransport:
    """Sends requests with the client of a `Connection`, which has TLS, proxies and credentials."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def prepare(self, deadline: Deadline) -> None:
        """Wait until the credentials are valid; see `Connection.client`."""
        self.connection.client(deadline)

    def send(self, request: Request, seconds: float) -> Response:
        """See `Transport.send`.

        Raises:
            Retryable: refused, reset, truncated or too slow. ObjectError: a body above `PAGE_BYTES_MAX`.
            Untrusted: the certificate. Unreadable: the address is malformed.
        """
        try:
            return self._send(request, seconds)
        except TakaraSyncError:
            raise
        except _WIRE_ERRORS as error:
            raise _translated(request, error, seconds) from error

    def close(self) -> None:
        self.connection.close()

    def _send(self, request: Request, seconds: float) -> Response:
        client = self.connection.current
        headers = client.headers_for(request.accept, request.content_type if request.writes else "")
        response = client.pools.urlopen(
            request.method,
            client.url + request.path + (f"?{urlencode(request.query)}" if request.query else ""),
            body=None if request.body is None else encoded(request.body),
            headers=headers,
            timeout=urllib3.Timeout(total=seconds),
            preload_content=False,
            redirect=False,
        )
        try:
            _must_have_length(response)
            content = _read(request, response)
        except BaseException:
            response.close()  # the rest of this response must not be the start of the next one
            raise
        response.release_conn()
        return Response(response.status, response.headers, content, _secret(headers))


def encoded(body: object) -> bytes:
    """The body as JSON that is also YAML, because the API server reads an apply as YAML.

    YAML has no surrogate pairs, so an emoji cannot be escaped, and these characters must be:
    https://yaml.org/spec/1.1/#id868524
    """
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def _secret(headers: Mapping[str, str]) -> str:
    """Our token, if it is long enough to search for it in messages."""
    token = headers.get("Authorization", "").rpartition(" ")[2]
    return token if len(token) >= _SECRET_BYTES_MIN else ""


def _must_have_length(response: urllib3.BaseHTTPResponse) -> None:
    """Raise ProtocolError for a response without a length (RFC 9112, section 6.3).

    The API server always sends the length. So without it the response was truncated in its headers; it would look like
    a response with a body that ends with the connection.
    """
    length = response.headers.get("Content-Length") or response.headers.get("Transfer-Encoding")
    if response.status < HTTPStatus.MULTIPLE_CHOICES and response.status != HTTPStatus.NO_CONTENT and not length:
        raise urllib3.exceptions.ProtocolError("the response has no length")


def _read(request: Request, response: urllib3.BaseHTTPResponse) -> bytearray:
    """The body, in memory once: a list of chunks that is joined at the end would need twice the memory.

    `read` returns as many bytes as it is asked for. `stream` would return each HTTP chunk: 2 KiB from an API server.
    """
    content = bytearray()
    while chunk := response.read(_CHUNK, decode_content=True):
        content += chunk
        if len(content) > PAGE_BYTES_MAX:
            raise ObjectError(f"{request} was answered with more than {PAGE_BYTES_MAX >> 20} MiB")
    return content


def _translated(request: Request, error: Exception, seconds: float) -> Exception:
    """Our error for an exception of the client, urllib3 or the system."""
    refused = _cause(error, ConnectionRefusedError) is not None
    late = isinstance(error, TimeoutError | urllib3.exceptions.TimeoutError) or _cause(error, TimeoutError) is not None
    if late and not isinstance(error, urllib3.exceptions.NewConnectionError):  # urllib3 counts this as a timeout
        return Retryable(f"{request} was not answered within {seconds:.1f} s", HINT, timed_out=True)
    if (untrusted := _cause(error, ssl.SSLCertVerificationError)) is not None:
        return Untrusted(f"The certificate of the API server is not trusted: {untrusted.verify_message}")
    if isinstance(error, urllib3.exceptions.LocationValueError):
        return Unreadable("The server address in the kubeconfig is no valid URL", "Correct clusters[].cluster.server.")
    what, hint = explained(error)
    return Retryable(f"{request} failed: {what}", hint, refused=refused, executed=not refused)


def _cause(error: BaseException, kind: type[Any]) -> Any:
    """The first error of this kind in the causes of `error`; None if there is none."""
    return next((each for each in causes(error) if isinstance(each, kind)), None)
