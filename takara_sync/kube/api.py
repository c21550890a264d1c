"""One way to send a request to the API server, for any kind: timeouts, retries, a deadline, our errors."""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, NoReturn

import tenacity
import urllib3

from takara_sync.cluster import Deadline
from takara_sync.errors import ConfigurationError, CutShort, TakaraSyncError, Unauthorized, Unavailable, Unreadable
from takara_sync.kube.answers import Again, Answer, Request, judge
from takara_sync.kube.credentials import PLUGIN_SECONDS, connector, patiently
from takara_sync.kube.watchdog import POOLS, Watchdog

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

log = logging.getLogger("takara_sync")

PAGE_BYTES_MAX = 256 * 2**20
_CHUNK = 2**16
_BACKOFF = tenacity.wait_random_exponential(multiplier=0.5, max=8)


class Api:
    """A connection to one API server; lives as long as the process, safe to share between threads.

    request_timeout: seconds that one try may take in all, headers and body included.
    """

    def __init__(
        self, connect: Callable[[], ApiClient], *, request_timeout: float = 10.0, deadline: Deadline | None = None
    ) -> None:
        self._connect = connect
        self._request_timeout = request_timeout
        self._lock = threading.Lock()
        self._client = patiently(self._new_client, deadline or Deadline(PLUGIN_SECONDS))

    @classmethod
    def connect(
        cls,
        kubeconfig: str | None = None,
        context: str | None = None,
        *,
        connections: int = 16,
        request_timeout: float = 10.0,
        user_agent: str = "takara-sync",
        deadline: Deadline | None = None,
    ) -> Api:
        """Read the credentials (see `kube.credentials` for the order); nothing is sent yet.

        Raises:
            ConfigurationError: there are no usable credentials.
            CutShort: a credential plugin took too long, by default 30 s.
        """
        connect = connector(kubeconfig, context, connections=connections, user_agent=user_agent)
        return cls(connect, request_timeout=request_timeout, deadline=deadline)

    def send(self, request: Request, deadline: Deadline) -> bytes:
        """The body of a 2xx answer. What may get better is tried again, at most 4 times, never past the deadline.

        Raises:
            Changed, Vanished, Refused, Expired, Unavailable: see `kube.answers.judge`.
            Unauthorized: 401, also with the credentials read anew.
            Unreadable: the server cannot be spoken to at all.
            CutShort: the deadline.
        """
        client = self._client
        try:
            return self._send(client, request, deadline)
        except Unauthorized:
            return self._send(self._renewed(client, deadline), request, deadline)

    def close(self) -> None:
        self._client.close()

    def _new_client(self) -> ApiClient:
        client = self._connect()
        client.rest_client.pool_manager.pool_classes_by_scheme = POOLS
        return client

    def _renewed(self, used: ApiClient, deadline: Deadline) -> ApiClient:
        """A client with the credentials as they are now; several threads that met one 401 share it."""
        with self._lock:
            if self._client is used:
                try:
                    self._client = patiently(self._new_client, deadline)
                except ConfigurationError as error:
                    raise Unauthorized(f"401, and the credentials are gone: {error.message}", error.hint) from error
            return self._client

    # -------------------------------------------------------------- retries

    def _send(self, client: ApiClient, request: Request, deadline: Deadline) -> bytes:
        def gives_up(state: tenacity.RetryCallState) -> bool:
            return state.attempt_number >= _met(state).tries or state.upcoming_sleep >= deadline.left()

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(Again),
            wait=lambda state: max(_met(state).retry_after, _BACKOFF(state)),
            stop=gives_up,
            sleep=deadline.wait,
            before_sleep=_tell_retry,
            reraise=True,
        )
        try:
            return retrying(self._try, client, request, deadline)
        except Again as again:
            if deadline.left() <= 0:
                _cut(deadline, again)
            raise again.error from again

    def _try(self, client: ApiClient, request: Request, deadline: Deadline) -> bytes:
        deadline.check()
        seconds = min(self._request_timeout, deadline.left_for_requests())
        with Watchdog(seconds) as watchdog:
            try:
                answer = _exchange(client, request, seconds)
                if watchdog.bitten:  # the end that it saw was the watchdog's
                    raise TimeoutError
            except TakaraSyncError:
                raise
            except _wire_errors() as error:
                raise _translated(request, error, seconds if watchdog.bitten else None) from error
        return judge(request, answer)


def _cut(deadline: Deadline, again: Again) -> NoReturn:
    """Raise CutShort, with what the last try met as its cause."""
    try:
        deadline.check()
    except CutShort as cut:
        raise cut from again
    raise again.error from again


def _met(state: tenacity.RetryCallState) -> Again:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, Again)
    return error


def _tell_retry(state: tenacity.RetryCallState) -> None:
    error = _met(state)
    number, wait = state.attempt_number, state.upcoming_sleep
    log.warning("%s; try %d of %d follows in %.1f s", error.error.message, number + 1, error.tries, wait)


# ------------------------------------------------------------------ one exchange


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
    return Answer(response.status, response.headers, body)


def _with_clean_token(headers: dict[str, Any]) -> dict[str, Any]:
    """The headers with the token stripped: a mounted file may end with a newline.

    Raises Unauthorized where the token can be no header at all; http.client would quote it in its error.
    """
    for name in [name for name in headers if name.lower() == "authorization"]:
        token = headers[name] = headers[name].strip()
        if not (token.isascii() and token.isprintable()):
            raise Unauthorized("The bearer token holds characters that no HTTP header can carry")
    return headers


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
        return Again(Unavailable(f"{request} was not answered{seconds}"))
    if (untrusted := _cause(error, ssl.SSLCertVerificationError)) is not None:
        return Unreadable(
            f"The certificate of the API server is not trusted: {untrusted.verify_message}",
            "Check the certificate-authority of the kubeconfig, and the clock.",
        )
    if isinstance(error, urllib3.exceptions.LocationValueError):
        return Unreadable("The server address of the kubeconfig is no usable URL", "Correct clusters[].cluster.server.")
    return Again(Unavailable(f"{request} failed: {_plain(error)}"))


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
