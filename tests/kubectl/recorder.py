"""An API server that writes down as whom each request came; it is its own HTTP proxy and SOCKS proxy too."""

from __future__ import annotations

import base64
import contextlib
import socket
import ssl
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from takara_sync.simulator import Request, Store

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from tests.wire.certificates import Served

GOOD = "good-"  # what each token and password that the server takes begins with
PROXY_USER = "proxy user:pass/word"


@dataclass
class Recorder:
    """Listens on loopback for TLS, plain HTTP and proxy requests on one port.

    served: its certificate. clients: the authority of client certificates. refuses: a status for each request.
    seen: each request that was let in, as "who; how".
    """

    served: Served
    clients: Path
    refuses: int = 0
    seen: list[str] = field(default_factory=list)
    through: dict[int, str] = field(default_factory=dict)
    store: Store = field(default_factory=Store)
    lock: Any = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.context = self.served.context
        self.context.verify_mode = ssl.CERT_OPTIONAL
        self.context.load_verify_locations(self.clients)
        self.context.sni_callback = lambda connection, name, _: setattr(connection, "asked_name", name)
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.recorder = self

    @property
    def port(self) -> int:
        return self._http.server_port

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    recorder: Recorder

    def handle_error(self, *_: object) -> None:
        """A handshake that a client breaks off is what is being tested; anything else is a fault of this server."""
        if not isinstance(sys.exception(), OSError):
            self.recorder.seen.append(repr(sys.exception()))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http
    connection: Any

    def setup(self) -> None:
        super().setup()
        self.recorder = self.server.recorder
        first = self.connection.recv(1, socket.MSG_PEEK)
        if first == b"\x05":
            self._socks()
        elif first == b"\x16":
            self.connection = self.recorder.context.wrap_socket(self.connection, server_side=True)
            self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def do_CONNECT(self) -> None:
        said = self.headers.get("Proxy-Authorization", "")
        if self.path.startswith("locked.") and said != f"Basic {base64.b64encode(PROXY_USER.encode()).decode()}":
            self._answer(407, b"", {"Proxy-Authenticate": "Basic"})
            return
        self.wfile.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        self._tunnel("proxy" + (" that knows us" if said else ""))

    def _socks(self) -> None:
        """RFC 1928, without authentication."""
        self.connection.recv(1 + 1 + 255)
        self.connection.sendall(b"\x05\x00")
        self.connection.recv(512)
        self.connection.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
        self._tunnel("socks")

    def _tunnel(self, what: str) -> None:
        """Everything from now on goes to this server itself, and comes back."""
        with socket.create_connection(("127.0.0.1", self.recorder.port)) as ahead:
            port = ahead.getsockname()[1]
            self.recorder.through[port] = what
            back = threading.Thread(target=_pump, args=(ahead, self.connection), daemon=True)
            back.start()
            _pump(self.connection, ahead)
            back.join()
            del self.recorder.through[port]
        self.close_connection = True

    def _serve(self) -> None:
        where = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        who = self._who()
        if self.recorder.refuses or who is None:
            self._answer(self.recorder.refuses or 401, b'{"kind": "Status", "message": "go away"}')
            return
        self.recorder.seen.append(f"{who}; {self._how(where.netloc)}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, where.path.removeprefix("/prefix"), dict(parse_qsl(where.query)), headers, body)
        with self.recorder.lock:
            answer = self.recorder.store.handle(request)
        self._answer(answer.status, answer.body, dict(answer.headers))

    def _who(self) -> str | None:
        """The user by the rules of an API server; None for nobody that it knows. Plain HTTP lets anybody in."""
        said = self.headers.get("Authorization", "")
        kind, _, secret = said.partition(" ")
        name = base64.b64decode(secret).decode() if kind == "Basic" else secret
        subject = dict(pair[0] for pair in (self._certificate().get("subject") or ()))
        known = [f"certificate {subject['commonName']}"] if subject else []
        if said:
            known.append(f"{kind} {name}")
        if said and (GOOD not in name or name[0] == " "):
            return None
        asked = [(key.lower(), value) for key, value in self.headers.items()]
        acts = [f"{key} {value}" for key, value in asked if key.startswith("impersonate-")]
        who = [*known, *sorted(acts)]
        return " and ".join(who) or (None if isinstance(self.connection, ssl.SSLSocket) else "nobody")

    def _certificate(self) -> Any:
        return (self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None) or {}

    def _how(self, absolute: str) -> str:
        way = self.recorder.through.get(self.client_address[1], "proxy in plain" if absolute else "direct")
        return f"{way}, asking for {getattr(self.connection, 'asked_name', None)}"

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        lines = [f"{name}: {value}" for name, value in ({"Content-Length": str(len(body))} | (headers or {})).items()]
        self.wfile.write("\r\n".join([f"HTTP/1.1 {status} Said", *lines, "", ""]).encode() + body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """The requests are recorded instead."""


def _pump(source: Any, sink: Any) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(2**16):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
