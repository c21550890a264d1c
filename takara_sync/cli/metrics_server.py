"""Serves the metrics over HTTP, for a Prometheus that scrapes the loop."""

from __future__ import annotations

import logging
import socket
import socketserver
import threading
from http.server import ThreadingHTTPServer
from typing import Any

from prometheus_client import CollectorRegistry, MetricsHandler

from takara_sync.errors import ConfigurationError

log = logging.getLogger("takara_sync")

_SECONDS = 10.0  # a connection that sends nothing for so long is closed; it holds a thread


class _Server(ThreadingHTTPServer):
    def __init__(self, family: int, address: Any, registry: CollectorRegistry) -> None:
        self.address_family = family
        super().__init__(address, type("Handler", (MetricsHandler,), {"registry": registry, "timeout": _SECONDS}))

    def server_bind(self) -> None:
        """Without HTTPServer's look-up of the host name, which takes seconds if DNS does not answer."""
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, *_: Any) -> None:
        """A client that went away is no error of ours; the standard library would print a traceback."""
        log.debug("a request for the metrics failed", exc_info=True)


def serve(address: str, registry: CollectorRegistry) -> None:
    """Serve the metrics at HOST:PORT until the process ends. Port 0: a free one; the log says which.

    Raises:
        ConfigurationError: the address cannot be used.
    """
    host, _, port = address.rpartition(":")
    try:
        family, *_, where = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)[0]
        server = _Server(family, where, registry)
    except (OSError, UnicodeError) as error:
        what = f"--metrics-address cannot listen on {address}: {getattr(error, 'strerror', None) or error}"
        raise ConfigurationError(what, "Choose another address, or end the program that listens there.") from error
    threading.Thread(target=server.serve_forever, name="metrics server", daemon=True).start()
    log.info("metrics are served at http://%s:%d/metrics", host, server.server_address[1])
