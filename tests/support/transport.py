"""The product's own `KubeCluster` and `Api` over a function instead of a socket: thousands of passes in seconds.

    cluster = in_process(store.handle)               # a simulator's Store, or Simulator.handle
    cluster = in_process(store.handle, around=hook)  # hook(request, send) -> Response sees every request
    cluster = over_http(kubeconfig, around=hook)     # the same hook in front of the real transport

A hook may count requests, do something before or after one, answer itself, or raise what a transport raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import msgspec

from takara_sync import KubeCluster
from takara_sync.kube.api import Api, Deadline, Request, Response
from takara_sync.kube.connection import Connection
from takara_sync.kube.transport import HttpTransport
from takara_sync.simulator import Answer
from takara_sync.simulator import Request as Served

Handle = Callable[[Served], Answer]
Around = Callable[[Request, Callable[[], Response]], Response]

USER = "takara-sync"


class InProcess:
    """A `takara_sync.kube.api.Transport`. user: whose requests these are; the simulator takes any token for a user."""

    def __init__(self, handle: Handle, around: Around | None = None, user: str = USER) -> None:
        self._handle = handle
        self._around: Around = around or (lambda _, send: send())
        self._user = user

    def prepare(self, deadline: Deadline) -> None:
        """There are no credentials to wait for."""

    def send(self, request: Request, seconds: float) -> Response:  # noqa: ARG002 - the simulator answers at once
        return self._around(request, lambda: self._sent(request))

    def close(self) -> None:
        """There is no connection."""

    def _sent(self, request: Request) -> Response:
        headers = {"authorization": f"Bearer {self._user}", "accept": request.accept, "user-agent": "takara-sync"}
        headers |= {"content-type": request.content_type}
        body = b"" if request.body is None else msgspec.json.encode(request.body)
        served = Served(request.method, unquote(request.path), dict(request.query), headers, body)
        answer = self._handle(served)
        return Response(answer.status, answer.headers, answer.body)


def is_aside(request: Request) -> bool:
    """An Event, or a look at the pods of one Takara: nothing that a pass does depends on them."""
    return request.path.endswith("/events") or "takara_cr=" in dict(request.query).get("labelSelector", "")


def in_process(handle: Handle, around: Around | None = None, user: str = USER, **options: Any) -> KubeCluster:
    """A cluster for `sync_once`; `options` are those of KubeCluster."""
    return KubeCluster(Api(InProcess(handle, around, user)), **options)


class OverHttp(HttpTransport):
    """The product's own transport, with a hook around each request."""

    def __init__(self, kubeconfig: str, around: Around) -> None:
        super().__init__(Connection(kubeconfig))
        self._around = around

    def send(self, request: Request, seconds: float) -> Response:
        return self._around(request, lambda: super(OverHttp, self).send(request, seconds))


def over_http(kubeconfig: str, around: Around, **options: Any) -> KubeCluster:
    """The same for any server."""
    return KubeCluster(Api(OverHttp(kubeconfig, around)), **options)
