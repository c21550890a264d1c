"""The store behind HTTP/1.1 on loopback, with threads; and a kubeconfig that leads there."""

from __future__ import annotations

import http.server
import logging
import threading
from typing import Any, Self

import yaml

from takara_sync.simulator.controllers import Controllers
from takara_sync.simulator.objects import Snapshot
from takara_sync.simulator.store import Store
from takara_sync.simulator.wire import Answer, Refusal, Request

_log = logging.getLogger(__name__)


class Simulator:
    """A cluster on 127.0.0.1 for as long as the `with` statement lasts; its methods may be called from any thread.

    store: the cluster that it serves; a new one unless given.
    tick_every: seconds after which the controllers work at the latest; with None only `settle` makes them work.
    """

    def __init__(self, store: Store | None = None, *, tick_every: float | None = None) -> None:
        self.store = store or Store()
        self.controllers = Controllers(self.store.objects)
        self.lock = threading.RLock()  # one request or tick at a time
        self.ticks = tick_every is not None
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.simulator = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(tick_every or 0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The address of the API, without a slash at its end."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def kubeconfig(self, user: str = "demo", namespace: str = "default") -> str:
        """A kubeconfig in YAML; its token is the user's name, which a store without `tokens` accepts."""
        parts: dict[str, Any] = {
            "cluster": {"server": self.url},
            "user": {"token": user, "as": user},
            "context": {"cluster": "simulator", "user": "simulator", "namespace": namespace},
        }
        lists = {f"{key}s": [{"name": "simulator", key: value}] for key, value in parts.items()}
        return yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "current-context": "simulator", **lists})

    def handle(self, request: Request) -> Answer:
        """Answers one request in this process; an error of the simulator's own is a 500 and changes nothing."""
        with self.lock:
            try:
                return self.store.handle(request)
            except Exception as error:  # noqa: BLE001 - the boundary of a server: one request never ends it
                _log.exception("%s %s", request.method, request.path)
                return Refusal(500, "InternalError", f"Internal error occurred: {error!r}").answer

    def snapshot(self) -> Snapshot:
        """The objects as they are now; see `Store.snapshot`."""
        with self.lock:
            return self.store.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Goes back to a snapshot; see `Store.restore`."""
        with self.lock:
            self.store.restore(snapshot)

    def settle(self) -> None:
        """Lets the controllers finish their work. Raises RuntimeError where that takes more than 1,000 steps."""
        with self.lock:
            self.controllers.settle()


class _Http(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # kept-alive connections would hold the end up
    request_queue_size = 128
    simulator: Simulator

    def service_actions(self) -> None:
        """Called after each request, and where there is none every so many seconds."""
        if self.simulator.ticks:
            with self.simulator.lock:
                self.simulator.controllers.tick()

    def handle_error(self, *_: object) -> None:
        """Prints nothing: clients may hang up."""
        _log.debug("a connection broke", exc_info=True)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # seconds that a connection may be idle
    disable_nagle_algorithm = True
    server: _Http

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionAbortedError  # half a body is not the request of the client
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.simulator.handle(Request.of(self.command, self.path, body, headers=headers))
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the names are the base class's

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        _log.debug(format, *args)
