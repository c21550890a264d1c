"""The real `Api` in front of a function instead of a socket, so that thousands of passes are cheap."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import unquote

from kubernetes.client import Configuration

from takara_sync.cluster import Deadline
from takara_sync.kube.api import Api

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]


class Got(NamedTuple):
    """An answer."""

    status: int
    body: bytes

    @property
    def good(self) -> bool:
        return self.status < 300


@dataclass(frozen=True)
class Sent:
    """A request; the path is decoded, the body a JSON value."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = "application/json"
    accept: str = "application/json"

    @property
    def writes(self) -> bool:
        return self.method != "GET"

    @property
    def plural(self) -> str:
        return (*self.path.partition("/namespaces/")[2].split("/"), "", "")[1]

    @property
    def name(self) -> str:
        return (*self.path.partition("/namespaces/")[2].split("/"), "", "", "")[2]

    @property
    def subresource(self) -> str:
        return (*self.path.partition("/namespaces/")[2].split("/"), "", "", "", "")[3]


class _Response:
    """As much of an urllib3 response as `Api` reads."""

    def __init__(self, got: Got) -> None:
        self.status, self._body = got
        self.headers = {"Content-Length": str(len(got.body))}

    def stream(self, _: int, *, decode_content: bool) -> Iterator[bytes]:
        assert decode_content
        yield self._body

    def release_conn(self) -> None:
        pass

    def close(self) -> None:
        pass


_CONFIGURATION = Configuration(host="http://model")


class _Client:
    """As much of a `kubernetes.client.ApiClient` as `Api` asks for."""

    def __init__(self, exchange: Callable[[Sent], Got]) -> None:
        self._exchange = exchange
        self.configuration = _CONFIGURATION
        self.default_headers: dict[str, str] = {}
        self.rest_client = SimpleNamespace(pool_manager=SimpleNamespace(pool_classes_by_scheme={}))

    def param_serialize(self, method: str, path: str, **options: Any) -> tuple[str, Any, Any]:
        return method, (unquote(path), dict(options["query_params"])), options["header_params"]

    def call_api(self, method: str, url: Any, headers: Json, *, body: Any, _request_timeout: Any) -> Any:
        path, query = url
        sent = Sent(method, path, query, body, headers.get("Content-Type", ""), headers["Accept"])
        return SimpleNamespace(response=_Response(self._exchange(sent)))


class Unhurried(Deadline):
    """A deadline that never comes by itself; waiting for a retry takes no time."""

    def wait(self, seconds: float) -> None:
        pass


def api(exchange: Callable[[Sent], Got]) -> Api:
    """The product's own `Api`, with its retries, over that function."""
    return Api(lambda: cast("Any", _Client(exchange)))
