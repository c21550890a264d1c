"""One way to send a request to the API server, for any kind: timeouts, retries, a deadline, our errors."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import tenacity

from takara_sync.cluster import Deadline
from takara_sync.errors import (
    Changed,
    ConfigurationError,
    CutShort,
    TakaraSyncError,
    Unauthorized,
    Untrusted,
)
from takara_sync.kube.answers import Again, Request, judge
from takara_sync.kube.credentials import PLUGIN_SECONDS, connector, fingerprint, patiently
from takara_sync.kube.exchange import exchange
from takara_sync.kube.watchdog import POOLS

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

log = logging.getLogger("takara_sync")

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
        self._looked_again: Deadline | None = None
        self._client = patiently(self._new_client, deadline or Deadline(PLUGIN_SECONDS))
        self._known = fingerprint(self._client)

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

        Where the server does not take the credentials, or is not the one that they trust, they are read anew, once.

        Raises:
            Changed, Vanished, Refused, Expired, Unavailable: see `kube.answers.judge`.
            Unauthorized: 401. Untrusted: an unknown certificate. Both also with what was read anew.
            Unreadable: the server cannot be spoken to at all.
            CutShort: the deadline.
        """
        used = self._client
        try:
            return self._send(request, deadline)
        except Unauthorized as error:
            self._renew(used, deadline, error)
        except Untrusted:
            if not self._looks_elsewhere(used, deadline):
                raise
        return self._send(request, deadline)

    def close(self) -> None:
        self._client.close()

    # -------------------------------------------------------------- credentials

    def _new_client(self) -> ApiClient:
        client = self._connect()
        client.rest_client.pool_manager.pool_classes_by_scheme = POOLS
        return client

    def _renew(self, used: ApiClient, deadline: Deadline, error: TakaraSyncError) -> None:
        """Take the credentials as they are now; several threads that met one refusal share them.

        Raises Unauthorized where there are none any more.
        """
        with self._lock:
            if self._client is used:
                try:
                    self._take(patiently(self._new_client, deadline))
                except ConfigurationError as gone:
                    what = f"{error.message.rstrip('.')}, and the credentials are gone: {gone.message}"
                    raise Unauthorized(what, gone.hint) from gone

    def _looks_elsewhere(self, used: ApiClient, deadline: Deadline) -> bool:
        """Whether there are other credentials by now than those that were `used`; read anew at most once a pass.

        A server that does not answer, or shows a certificate of nobody, may have moved. Credentials that cannot be
        read now are no news: a kubeconfig may be half written, and the server may come back.
        """
        with self._lock:
            if self._looked_again is not deadline and self._client is used:
                self._looked_again = deadline
                with contextlib.suppress(ConfigurationError):
                    client = patiently(self._new_client, deadline)
                    if fingerprint(client) != self._known:
                        self._take(client)
            return self._client is not used

    def _take(self, client: ApiClient) -> None:
        self._client, self._known = client, fingerprint(client)

    # -------------------------------------------------------------- retries

    def _send(self, request: Request, deadline: Deadline) -> bytes:
        met: list[Again] = []

        def gives_up(state: tenacity.RetryCallState) -> bool:
            return state.attempt_number >= _met(state).tries or state.upcoming_sleep >= deadline.left()

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(Again),
            wait=lambda state: max(_met(state).retry_after, _BACKOFF(state)),
            stop=gives_up,
            sleep=deadline.wait,
            before_sleep=lambda state: met.append(_told_retry(state)),
            reraise=True,
        )
        try:
            return retrying(self._try, request, deadline)
        except Changed as changed:
            changed.perhaps_by_us = any(again.done for again in met)
            raise
        except Again as again:
            if deadline.left() <= 0:
                _cut(deadline, again)
            raise again.error from again

    def _try(self, request: Request, deadline: Deadline) -> bytes:
        deadline.check()
        used, seconds = self._client, min(self._request_timeout, deadline.left_for_requests())
        try:
            return judge(request, exchange(used, request, seconds))
        except Again as again:
            if not again.answered:
                self._looks_elsewhere(used, deadline)
            raise


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


def _told_retry(state: tenacity.RetryCallState) -> Again:
    """What was met, with a line in the log."""
    error = _met(state)
    number, wait = state.attempt_number, state.upcoming_sleep
    log.warning("%s; try %d of %d follows in %.1f s", error.error.message, number + 1, error.tries, wait)
    return error
