"""Lists: selectors, and pages that belong to one moment."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from takara_sync.simulator.kinds import EVENT, POD, Kind
from takara_sync.simulator.wire import Json, Refusal, bad_request, not_served

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from takara_sync.simulator.objects import Objects

_MOMENTS = 64  # how many lists can be open at once before the oldest one's tokens expire
_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list "
    "without the continue parameter."
)
_SETS = re.compile(r"(\S+)\s+(in|notin)\s+\(([^()]*)\)")
_FIELDS: dict[Kind, tuple[str, ...]] = {
    POD: ("status.phase", "spec.nodeName", "spec.restartPolicy"),
    EVENT: (
        *tuple(f"involvedObject.{name}" for name in ("kind", "namespace", "name", "uid", "apiVersion")),
        "reason",
        "type",
    ),
}


class Page(NamedTuple):
    """One page of a list; `remaining` is None where a selector hides how many are left."""

    items: list[Json]
    version: int
    token: str = ""
    remaining: int | None = None


class Lists:
    """Answers list requests from the objects; a token is bound to the moment of its first page."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._moments: dict[int, dict[tuple[str, str], list[Json]]] = {}

    def expire_tokens(self) -> None:
        """Every token handed out so far answers 410, as after a compaction of etcd."""
        self._moments.clear()

    def page(self, kind: Kind, namespace: str, query: Mapping[str, str]) -> Page:
        """The page that the query asks for.

        Raises Refusal: 400 for a malformed selector, limit or token, 410 for an expired token, 501 for a watch.
        """
        if query.get("watch", "").lower() in ("true", "1"):
            raise not_served("watch")
        limit = _limit(query)
        start, version = "", self._objects.version
        if token := query.get("continue", ""):
            start, version = _decoded(token)
        everything = self._at(version, kind, namespace, keep=limit > 0, resumed=bool(token))
        selected = _selected(kind, query)
        chosen = [item for item in everything if _key(item) >= start and selected(item)]
        if not limit or len(chosen) <= limit:
            return Page(chosen, version)
        hidden = query.get("labelSelector") or query.get("fieldSelector")
        following = _encoded(version, _key(chosen[limit - 1]) + "\0")
        return Page(chosen[:limit], version, following, None if hidden else len(chosen) - limit)

    def _at(self, version: int, kind: Kind, namespace: str, *, keep: bool, resumed: bool) -> list[Json]:
        if resumed:
            if (kind.plural, namespace) not in self._moments.get(version, {}):
                raise Refusal(410, "Expired", _EXPIRED)
            return self._moments[version][kind.plural, namespace]
        found = self._objects.all(kind, namespace)
        if keep:
            self._moments.setdefault(version, {})[kind.plural, namespace] = found
            while len(self._moments) > _MOMENTS:
                del self._moments[min(self._moments)]
        return found


def _limit(query: Mapping[str, str]) -> int:
    text = query.get("limit") or "0"
    if not text.isdigit():
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return 0 if query.get("resourceVersion") == "0" else int(text)  # a list from the cache ignores the limit


def _key(item: Json) -> str:
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


def _encoded(version: int, start: str) -> str:
    token = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": start})
    return base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


def _decoded(token: str) -> tuple[str, int]:
    try:
        found = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        return str(found["start"]), int(found["rv"])
    except (ValueError, KeyError, TypeError) as error:
        raise bad_request(f"continue key is not valid: {error}") from error


def _selected(kind: Kind, query: Mapping[str, str]) -> Callable[[Json], bool]:
    labels = label_selector(query.get("labelSelector", ""))
    fields = _field_selector(kind, query.get("fieldSelector", ""))
    return lambda item: labels(item["metadata"].get("labels") or {}) and fields(item)


def label_selector(text: str) -> Callable[[Mapping[str, str]], bool]:
    """A test for labels from the string form.  Raises Refusal 400 where it cannot be parsed."""
    tests = [_requirement(part.strip()) for part in re.split(r",(?![^()]*\))", text) if part.strip()]
    return lambda labels: all(test(labels) for test in tests)


def _requirement(part: str) -> Callable[[Mapping[str, str]], bool]:
    if found := _SETS.fullmatch(part):
        key, negative = found[1], found[2] == "notin"
        values = {item.strip() for item in found[3].split(",")}
        return lambda labels: (labels.get(key) in values) != negative
    if found := re.fullmatch(r"([^\s!=,()]+)\s*(!=|==?)\s*([^\s!=,()]*)", part):
        name, sign, value = found.groups()
        return lambda labels: (labels.get(name) == value) != (sign == "!=")
    if found := re.fullmatch(r"(!?)\s*([^\s!=,()]+)", part):
        absent, wanted = found.groups()
        return lambda labels: (wanted in labels) != bool(absent)
    raise bad_request(f'unable to parse requirement: found "{part}"')


def _field_selector(kind: Kind, text: str) -> Callable[[Json], bool]:
    tests = []
    for part in filter(None, text.split(",")):
        found = re.fullmatch(r"([^!=]+?)(!=|==?)(.*)", part)
        if not found:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        if found[1] not in ("metadata.name", "metadata.namespace", *_FIELDS.get(kind, ())):
            raise bad_request(f"field label not supported: {found[1]}")
        tests.append((found[1].split("."), found[3], found[2] == "!="))
    return lambda item: all((_read(item, path) == value) != negative for path, value, negative in tests)


def _read(item: Any, path: list[str]) -> str:
    for name in path:
        item = item.get(name, "") if isinstance(item, dict) else ""
    return str(item)
