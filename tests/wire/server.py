"""An API server on loopback that misbehaves on request: scripted answers first, the simulator's store behind them.

with FaultServer() as server:
    server.on("*/pods", status(503), through)    # the first list of pods fails, the later ones do not
    ...                                          # server.requests: everything that was asked, in order
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import sys
import threading
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from takara_sync.simulator import Answer, Request, Store
from tests.support.takaras import takara
from tests.wire.asked import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Self

    from tests.support.certificates import Served


@dataclass
class Wire:
    """One request and the connection that it came on, in the hands of an answer."""

    asked: Asked
    handler: _Handler

    def send(self, data: bytes) -> None:
        self.handler.wfile.write(data)

    def close(self, *, reset: bool = False) -> None:
        """End the connection: politely, or with an RST."""
        if reset:
            self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.handler.close_connection = True

    def until_gone(self) -> None:
        """Wait until the client hangs up, or the server ends."""
        while self.handler.connection.recv(4096):
            pass
        self.close()

    def through(self) -> None:
        """Answer as a server in good health would."""
        answer = self.done()
        self.answer(answer.status, answer.body, dict(answer.headers))

    def done(self) -> Answer:
        """What a server in good health would answer: it is done, and not sent."""
        asked, faults = self.asked, self.handler.server.faults
        limit = {"limit": str(min(int(asked.query["limit"]), faults.page))} if "limit" in asked.query else {}
        with faults.lock:
            return faults.store.handle(
                Request(asked.method, asked.path, asked.query | limit, asked.headers, asked.body)
            )

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        """A whole and correct HTTP answer."""
        lines = [f"{name}: {value}" for name, value in ({"Content-Length": str(len(body))} | headers).items()]
        self.send("\r\n".join([f"HTTP/1.1 {status} Said", *lines, "", ""]).encode() + body)


@dataclass
class FaultServer:
    """Listens on a port of the system's choice for as long as the `with` statement lasts.

    tls: what it serves with; None for plain HTTP. instead: what new connections get in place of a TLS handshake.
    proxy: its port takes TLS, plain HTTP and SOCKS, and each tunnel that a client asks for leads back to this port:
    nothing leaves this machine. tunnels: by the port that a tunnel comes from, what kind of tunnel it is.
    page: how many items it gives at most, whatever is asked for. elsewhere: the server that it redirects to.
    """

    tls: Served | None = None
    proxy: bool = False
    instead: Callable[[socket.socket], None] | None = None
    page: int = 500
    elsewhere: str = ""
    requests: list[Asked] = field(default_factory=list)
    store: Store = field(default_factory=Store)
    lock: Any = field(default_factory=threading.RLock)
    connections: int = 0
    tunnels: dict[int, str] = field(default_factory=dict)
    bugs: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rules: list[tuple[str, str, Iterator[Callable[[Wire], None]]]] = []
        self._open: set[socket.socket] = set()
        self._ended = 0  # the connections up to this number
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.faults = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        self.hang_up()
        assert not self.bugs, self.bugs

    def hang_up(self) -> None:
        """End every connection that is open now."""
        with self.lock:
            self._ended = self.connections
            for each in self._open:
                with contextlib.suppress(OSError):  # the client was faster
                    each.shutdown(socket.SHUT_RDWR)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.address}"

    def on(self, path: str, *answers: Callable[[Wire], None], method: str = "*") -> None:
        """The nth request that matches gets the nth answer; the last answer is given again and again.

        path, method: shell patterns. Of several rules that match, the latest counts.
        """
        with self.lock:
            self._rules.insert(0, (path, method, chain(answers, repeat(answers[-1]))))

    def asked(self, path: str = "*", method: str = "*") -> list[Asked]:
        """The requests so far that match."""
        with self.lock:
            return [r for r in self.requests if fnmatchcase(r.path, path) and fnmatchcase(r.method, method)]

    def create_takaras(self, *names: str, size: int = 2, namespace: str = "default") -> None:
        """Takaras on the server, made behind the wire, and their namespace where there is none."""
        self._post("/api/v1/namespaces", {"metadata": {"name": namespace}})
        for name in names:
            self._post(f"/apis/maho.takara.org/v1alpha1/namespaces/{namespace}/takaras", takara(name, size))

    def _post(self, path: str, body: object) -> None:
        raw = json.dumps(body).encode()
        answer = self.store.handle(Request("POST", path, {}, {"content-type": "application/json"}, raw))
        assert answer.status in (201, 409), answer.body

    @property
    def writes(self) -> list[str]:
        """Those to Takaras and Deployments."""
        writes = (one for one in self.asked() if one.method not in ("GET", "CONNECT"))
        return [f"{one.method} {one.path}" for one in writes if not one.path.endswith("/events")]

    def opened(self, connection: socket.socket) -> int:
        """The number of a new connection."""
        with self.lock:
            self._open.add(connection)
            self.connections += 1
            return self.connections

    def secured(self, number: int, connection: socket.socket, wrapped: socket.socket) -> None:
        with self.lock:
            if number <= self._ended:  # in the middle of its handshake
                raise ConnectionAbortedError
            self._open ^= {connection, wrapped}

    def closed(self, connection: socket.socket) -> None:
        with self.lock:
            self._open.discard(connection)

    def answer_to(self, asked: Asked) -> Callable[[Wire], None]:
        with self.lock:
            self.requests.append(asked)
            for path, method, answers in self._rules:
                if fnmatchcase(asked.path, path) and fnmatchcase(asked.method, method):
                    return next(answers)
        return Wire.through


_TLS = b"\x16"  # the first byte of a handshake
_SOCKS = b"\x05"


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    faults: FaultServer

    def handle_error(self, *_: object) -> None:
        """A broken connection is what is being tested, and TLS without a handshake; anything else is a bug here."""
        error = sys.exception()
        if error and not isinstance(error, OSError | UnicodeDecodeError):
            self.faults.bugs.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http
    connection: socket.socket

    def setup(self) -> None:
        super().setup()
        faults = self.server.faults
        self.tunnel = faults.tunnels.get(self.client_address[1], "")
        self.number = faults.opened(self.connection)
        if faults.instead:
            faults.instead(self.connection)
            self.connection.shutdown(socket.SHUT_RDWR)
        elif faults.tls:
            first = self.connection.recv(1, socket.MSG_PEEK) if faults.proxy else _TLS
            if first == _TLS:
                self._secure(faults.tls.context)
            elif first == _SOCKS:
                self._socks()

    def _secure(self, context: ssl.SSLContext) -> None:
        bare, self.connection = self.connection, context.wrap_socket(self.connection, server_side=True)
        self.server.faults.secured(self.number, bare, self.connection)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", 0)  # type: ignore[assignment]  # unbuffered, as the base class's

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:  # the client has hung up
            self.close_connection = True

    def finish(self) -> None:
        self.server.faults.closed(self.connection)
        self.rfile.close()
        self.connection.close()

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        where = urlsplit(self.path)
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionAbortedError
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(where.query, keep_blank_values=True))
        path = self.path if self.command == "CONNECT" else unquote(where.path)
        asked = Asked(self.command, path, query, headers, body, self.number)
        answer = self.server.faults.answer_to(asked)
        if self.command == "CONNECT" and answer is Wire.through:
            self.wfile.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            self._lead_back("proxy that knows us" if "proxy-authorization" in headers else "proxy")
        else:
            answer(Wire(asked, self))

    def _socks(self) -> None:
        """RFC 1928, without authentication."""
        self.connection.recv(1 + 1 + 255)
        self.connection.sendall(b"\x05\x00")
        self.connection.recv(512)
        self.connection.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
        self._lead_back("socks")

    def _lead_back(self, tunnel: str) -> None:
        """Everything from now on goes to this server itself, and comes back."""
        faults = self.server.faults
        with socket.socket() as ahead:
            ahead.bind(("127.0.0.1", 0))
            faults.tunnels[ahead.getsockname()[1]] = tunnel
            ahead.connect(self.server.server_address)
            back = threading.Thread(target=_pump, args=(ahead, self.connection), daemon=True)
            back.start()
            _pump(self.connection, ahead)
            back.join()
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """The requests are recorded instead."""


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(2**16):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
