"""An API server that writes down as whom, and by which way, each request came."""

from __future__ import annotations

import base64
import ssl
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.wire.answers import status
from tests.wire.server import FaultServer, Wire

if TYPE_CHECKING:
    from tests.wire.answers import Answer
    from tests.wire.asked import Asked

GOOD = "good-"  # what each token and password that the server takes begins with
PROXY_USER = "proxy user:pass/word"


@dataclass
class Recorder(FaultServer):
    """refuses: a status for each request. seen: each request that was let in, as "who; how"."""

    refuses: int = 0
    seen: list[str] = field(default_factory=list)

    def answer_to(self, asked: Asked) -> Answer:
        if asked.method != "CONNECT":
            return self._answer
        known = f"Basic {base64.b64encode(PROXY_USER.encode()).decode()}"
        locked = asked.path.startswith("locked.") and asked.headers.get("proxy-authorization") != known
        return status(407, Proxy_Authenticate="Basic") if locked else Wire.through

    def _answer(self, wire: Wire) -> None:
        who = _who(wire)
        if self.refuses or who is None:
            status(self.refuses or 401)(wire)
            return
        self.seen.append(f"{who}; {_how(wire)}")
        replace(wire, asked=replace(wire.asked, path=wire.asked.path.removeprefix("/prefix"))).through()


def _who(wire: Wire) -> str | None:
    """The user by the rules of an API server; None for nobody that it knows. Plain HTTP lets anybody in."""
    connection, headers = wire.handler.connection, wire.asked.headers
    certificate: Any = (connection.getpeercert() if isinstance(connection, ssl.SSLSocket) else None) or {}
    said = headers.get("authorization", "")
    kind, _, secret = said.partition(" ")
    name = base64.b64decode(secret).decode() if kind == "Basic" else secret
    if said and (GOOD not in name or name[0] == " "):
        return None
    subject = dict(pair[0] for pair in certificate.get("subject", ()))
    known = [f"certificate {subject['commonName']}"] if subject else []
    acts = [f"{key} {value}" for key, value in headers.items() if key.startswith("impersonate-")]
    who = [*known, *([f"{kind} {name}"] if said else []), *sorted(acts)]
    return " and ".join(who) or (None if isinstance(connection, ssl.SSLSocket) else "nobody")


def _how(wire: Wire) -> str:
    absolute = urlsplit(wire.handler.path).netloc
    way = wire.handler.tunnel or ("proxy in plain" if absolute else "direct")
    return f"{way}, asking for {getattr(wire.handler.connection, 'asked_name', None)}"
