"""The store behind HTTP/1.1 on loopback, with threads; and a kubeconfig that leads there."""

from __future__ import annotations

import http.server
import logging
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

import yaml

from takara_sync.simulator.controllers import Controllers
from takara_sync.simulator.store import Store
from takara_sync.simulator.wire import Answer, Refusal, Request

if TYPE_CHECKING:
    from typing import Self

_BODY_LIMIT = 3 * 1024 * 1024  # bytes, as the real server's
_log = logging.getLogger(__name__)


class Simulator:
    """A cluster on 127.0.0.1 for as long as the `with` statement lasts; `url` leads there.

    store: what it serves; a fresh one unless given.
    tick_every: seconds between two ticks of the controllers; None where the owner calls `tick` or `settle`.
    port: 0 takes a free one.
    """

    def __init__(self, store: Store | None = None, *, tick_every: float | None = None, port: int = 0) -> None:
        self.store = store or Store()
        self.controllers = Controllers(self.store.objects)
        self.lock = threading.RLock()  # one request or tick at a time
        self._tick_every, self._stop = tick_every, threading.Event()
        self._http = _Http(("127.0.0.1", port), _Handler)
        self._http.simulator = self
        self._threads = [threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)]
        if tick_every is not None:
            self._threads.append(threading.Thread(target=self._tick_on, daemon=True))

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._http.shutdown()
        self._http.server_close()
        for thread in self._threads:
            thread.join()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def kubeconfig(self, user: str = "demo", namespace: str = "default") -> str:
        """A kubeconfig in YAML: the token is the user's name, as a store without tokens takes it."""
        told: dict[str, Any] = {
            "cluster": {"server": self.url},
            "user": {"token": user, "as": user},
            "context": {"cluster": "simulator", "user": "simulator", "namespace": namespace},
        }
        lists = {f"{key}s": [{"name": "simulator", key: value}] for key, value in told.items()}
        return yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "current-context": "simulator", **lists})

    def handle(self, request: Request) -> Answer:
        """One request, alone with the store; what goes wrong inside is a 500 and changes nothing."""
        with self.lock:
            try:
                return self.store.handle(request)
            except Exception as error:  # noqa: BLE001 - the boundary of a server: one request never ends it
                _log.exception("%s %s", request.method, request.path)
                return Refusal(500, "InternalError", f"Internal error occurred: {error!r}").answer

    def tick(self) -> bool:
        """One step of the controllers; whether anything changed."""
        with self.lock:
            return self.controllers.tick()

    def settle(self) -> None:
        """The controllers do all that they will do.  Raises RuntimeError where they find no end."""
        with self.lock:
            self.controllers.settle()

    def _tick_on(self) -> None:
        while not self._stop.wait(self._tick_every):
            try:
                self.tick()
            except Exception:  # noqa: BLE001 - a cluster's controllers outlive what one object does to them
                _log.exception("a tick of the controllers failed")


class _Http(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # kept-alive connections would hold the end up
    request_queue_size = 128
    simulator: Simulator

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is no news; nothing is printed."""
        _log.debug("a connection broke", exc_info=True)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # seconds that a connection may be idle
    disable_nagle_algorithm = True
    server: _Http

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):  # every method goes the same way; the store says 405
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        where = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(where.query, keep_blank_values=True))
        try:
            request = Request(self.command, unquote(where.path), query, headers, self._body())
            answer = self.server.simulator.handle(request)
        except Refusal as refusal:
            self.close_connection = True  # its body has not been read
            answer = refusal.answer
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal():
            raise Refusal(411, "", "a request needs a Content-Length")
        if int(length) > _BODY_LIMIT:
            raise Refusal(413, "RequestEntityTooLarge", f"Request entity too large: limit is {_BODY_LIMIT}")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise ConnectionAbortedError  # what is cut off is not what was meant
        return body

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        _log.debug(format, *args)
