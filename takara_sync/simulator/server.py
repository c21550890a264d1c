"""The store behind HTTP/1.1 on loopback, with threads; and a kubeconfig that leads there."""

from __future__ import annotations

import http.server
import logging
import sys
import threading
from typing import Any, Self

import yaml

from takara_sync.simulator.controllers import Controllers
from takara_sync.simulator.store import Store
from takara_sync.simulator.wire import Request

_log = logging.getLogger(__name__)


class Simulator:
    """A cluster on 127.0.0.1 for as long as the `with` statement lasts.

    store: the cluster that it serves; a new one unless given.
    url: the address of the API, without a slash at its end.
    tick_every: seconds after which the controllers work at the latest; with None only `settle` makes them work.
    """

    def __init__(self, store: Store | None = None, *, tick_every: float | None = None) -> None:
        self.store = store or Store()
        self.controllers = Controllers(self.store)
        self.ticks = tick_every is not None
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.simulator = self
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(tick_every or 0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def kubeconfig(self, user: str = "demo", namespace: str = "default") -> str:
        """A kubeconfig in YAML; its token is the user's name, which a store without `tokens` accepts."""
        parts: dict[str, Any] = {
            "cluster": {"server": self.url},
            "user": {"token": user, "as": user},
            "context": {"cluster": "simulator", "user": "simulator", "namespace": namespace},
        }
        lists = {f"{key}s": [{"name": "simulator", key: value}] for key, value in parts.items()}
        return yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "current-context": "simulator", **lists})


class _Http(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # kept-alive connections would hold the end up
    request_queue_size = 128
    simulator: Simulator

    def service_actions(self) -> None:
        """Called after each request, and where there is none every so many seconds."""
        if self.simulator.ticks:
            self.simulator.controllers.tick()

    def handle_error(self, *_: object) -> None:
        """Ends the connection; clients may hang up at any time, everything else is an error of the simulator."""
        level = logging.DEBUG if isinstance(sys.exception(), OSError) else logging.ERROR
        _log.log(level, "a connection broke", exc_info=True)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # seconds that a connection may be idle
    disable_nagle_algorithm = True
    server: _Http

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.simulator.store.handle(Request.of(self.command, self.path, body, headers=headers))
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the names are the base class's

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        _log.debug(format, *args)
