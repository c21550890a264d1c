"""Requests to the API server, for any kind, with timeouts, retries, a deadline and our own errors.

    from takara_sync.kube.api import Api, Request, Deadline

    api = Api.connect()
    body = api.send(Request("GET", "/apis/batch/v1/cronjobs"), Deadline(30))

This module knows no Takara. Programs for other kinds can import everything that they need from here.
"""

from __future__ import annotations

import logging
import os

import tenacity

from takara_sync.deadline import Deadline
from takara_sync.errors import CutShort, Retryable
from takara_sync.kube.connection import Connection
from takara_sync.kube.response import APPLY, JSON_PATCH, Request, Response, raise_for_status
from takara_sync.kube.transport import HttpTransport, Transport

__all__ = ["APPLY", "JSON_PATCH", "Api", "Deadline", "Request", "Response", "Transport"]

log = logging.getLogger("takara_sync")

TRIES = 4
WRITE_EXTRA_SECONDS = 5.0
"""Extra time of a write beyond the request timeout, so that the server can say which webhook hangs."""
AWAY_SECONDS = 15.0
"""How long a server that was reached before may refuse connections: a restart takes about 10 s."""
BACKOFF = tenacity.wait_random_exponential(multiplier=0.5, max=8)


class Api:
    """A connection to one API server, for the life of the process. Threads may share it.

    request_timeout: seconds for one try, including headers and body. source: the kubeconfig and context, for messages.
    context: the context. transport: how it sends requests; a wrapper of it can count or change them.
    """

    def __init__(
        self, transport: Transport, *, request_timeout: float = 10.0, source: str = "", context: str = ""
    ) -> None:
        self.transport = transport
        self.source, self.context = source, context
        self._request_timeout = request_timeout
        self._reached = False

    @classmethod
    def connect(
        cls,
        kubeconfig: str | os.PathLike[str] | None = None,
        context: str | None = None,
        *,
        connections: int = 16,
        request_timeout: float = 10.0,
        user_agent: str = "takara-sync",
        deadline: Deadline | None = None,
        before: str = "",
    ) -> Api:
        """Read the credentials (see `kube.connection` for the order). This sends no request.

        before: the context of an earlier connection. It is used again if the kubeconfig still has it.

        Raises:
            ConfigurationError: there are no usable credentials, or an exec plugin returned none within 30 s.
            CutShort: the deadline was stopped.
        """
        connection = Connection(
            kubeconfig,
            context,
            before=before,
            connections=connections,
            user_agent=user_agent,
            deadline=deadline,
        )
        source, chosen = connection.source, connection.chosen.context
        return cls(HttpTransport(connection), request_timeout=request_timeout, source=source, context=chosen)

    def send(self, request: Request, deadline: Deadline, *, tries: int = TRIES) -> bytes | bytearray:
        """The body of a 2xx response. Transient failures are retried, but not after the deadline.

        tries: if it is more than 1, a refused connection does not count as a try for `AWAY_SECONDS`. It does count if
        the server was never reached, because the address may be wrong.

        Raises:
            Conflict, NotFound, Rejected, Expired, ApiNotServed, Retryable: see `kube.response.raise_for_status`.
            Unauthorized: 401. Untrusted: the certificate. Unreadable: the address is unusable.
            CutShort: the deadline.
        """
        if tries == 1:
            return self._try(request, deadline)
        met: list[Retryable] = []
        away = tenacity.stop_after_delay(AWAY_SECONDS if self._reached else 0.0)
        tried = tenacity.stop_after_attempt(tries) & (away | _Answered())
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(Retryable),
            wait=_wait,
            stop=tried | tenacity.stop_before_delay(deadline.left()),
            sleep=deadline.wait,
            before_sleep=lambda state: met.append(_log_retry(state)),
            reraise=True,
        )
        try:
            return retrying(self._try, request, deadline)
        except CutShort as cut:  # between two tries: its cause says why there was more than one
            raise cut from next(reversed(met), None)
        except Retryable as error:
            deadline.check(error)
            raise

    def close(self) -> None:
        """Close the connections. You can still use the object; it opens new ones."""
        self.transport.close()

    def _try(self, request: Request, deadline: Deadline) -> bytes | bytearray:
        deadline.check()
        self.transport.prepare(deadline)  # the time of an exec plugin does not count as request time
        limit = self._request_timeout + (WRITE_EXTRA_SECONDS if request.writes else 0.0)
        response = self.transport.send(request, min(limit, deadline.left_for_requests()))
        self._reached = True
        return raise_for_status(request, response)


def _error(state: tenacity.RetryCallState) -> Retryable:
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, Retryable) else Retryable("")


class _Answered(tenacity.stop.stop_base):
    """Stops if the last try had another result than a refused connection."""

    def __call__(self, state: tenacity.RetryCallState) -> bool:
        return not _error(state).refused


def _wait(state: tenacity.RetryCallState) -> float:
    return max(_error(state).retry_after, BACKOFF(state))


def _log_retry(state: tenacity.RetryCallState) -> Retryable:
    error, follows = _error(state), (state.attempt_number + 1, state.upcoming_sleep)
    log.warning("%s; try %d follows in %.1f s", error.message, *follows, extra={"retry": error.kind})
    return error
