"""Decodes responses: only the needed fields, fast; a malformed item does not affect the others. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct, structs

from takara_sync.errors import ObjectError, Unreadable
from takara_sync.objects import NAME, Deployment, Key, Listing, PodDetail, PodItem, Takara
from takara_sync.text import one_line

T = TypeVar("T")

_HINT = "Is this the address of a Kubernetes API server? Perhaps a proxy sent this response."

_UNREADABLE = (msgspec.MsgspecError, RecursionError)  # RecursionError: nested too deeply


class _ListMeta(Struct, frozen=True):
    next: str = msgspec.field(name="continue", default="")


class _CountedMeta(_ListMeta, frozen=True):
    remaining: int | None = msgspec.field(name="remainingItemCount", default=None)


class _Counted(Struct, frozen=True):
    metadata: _CountedMeta = _CountedMeta()


class _Page(Struct, Generic[T], frozen=True, kw_only=True):
    kind: str = ""
    metadata: _ListMeta = _ListMeta()
    items: list[T] | None  # the server sends null for an empty list


class _NamesMeta(Struct, frozen=True):
    namespace: Any = None
    name: Any = None


class _Names(Struct, frozen=True):
    metadata: _NamesMeta = _NamesMeta()


class _Kind(Struct, frozen=True):
    kind: str = ""


def page(body: bytes | bytearray, kind: type[T], kinds: tuple[str, ...], first: int = 0) -> tuple[Listing[T], str]:
    """The items of a page, the reason for each item that cannot be read, and the continue token, "" on the last page.

    first: the index of the first item in the complete list.

    Raises:
        Unreadable: no JSON, or a list of another kind.
    """
    try:
        decoded = _DECODERS[kind].decode(body)
        found: Listing[T] = Listing(tuple(decoded.items or ()))
    except _UNREADABLE:  # one malformed item must not affect the others
        decoded = _undecoded(bytes(body), kinds[0])
        found = _listing(decoded.items or (), kind, first)
    if decoded.kind not in kinds:
        raise Unreadable(f"The server answered with {_shown(decoded.kind)} instead of a {kinds[0]}", _HINT)
    return found, decoded.metadata.next


def left_out(body: bytes | bytearray) -> int | None:
    """How many items come on later pages; None if the server does not say it, as for a list with a selector.

    https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/list-meta/ (remainingItemCount)
    """
    try:
        meta = msgspec.json.decode(body, type=_Counted).metadata
    except _UNREADABLE:
        return None
    return meta.remaining if meta.next else 0


_DECODERS: dict[type, msgspec.json.Decoder[_Page[Any]]] = {
    Deployment: msgspec.json.Decoder(_Page[Deployment]),
    Takara: msgspec.json.Decoder(_Page[Takara]),
    PodItem: msgspec.json.Decoder(_Page[PodItem]),
    PodDetail: msgspec.json.Decoder(_Page[PodDetail]),
}


def _undecoded(body: bytes, expected: str) -> _Page[Raw]:
    """The page with its items as JSON, even if an item is nested too deeply to be decoded."""
    try:
        try:
            return msgspec.json.decode(body, type=_Page[Raw])
        except RecursionError:
            page = msgspec.json.decode(_shallow(body), type=_Page[Raw])
            nested = (Raw(body[start:end]) for start, end in _nested(body))
            items = page.items or ()
            return structs.replace(page, items=[next(nested) if bytes(raw) == _CUT else raw for raw in items])
    except _UNREADABLE as error:
        raise Unreadable(f"The response of the server is not a {expected}: {error}", _HINT) from error


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_CUT = b"{}"
_DEPTH = 2  # an item is in the list and in `items`; what is in its metadata is nested as deeply in the item


def _nested(body: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each object or list that is in `_DEPTH` others. It counts brackets, so any depth is possible."""
    depth, start = 0, 0
    for token in _TOKEN.finditer(body):
        if token[0] in (b"{", b"["):
            start = token.start() if depth == _DEPTH else start
            depth += 1
        elif token[0] in (b"}", b"]"):
            depth -= 1
            if depth == _DEPTH:
                yield start, token.end()


def _shallow(body: bytes) -> bytes:
    """The JSON with `_CUT` for each object or list that is in `_DEPTH` others."""
    kept, last = list[bytes](), 0
    for start, end in _nested(body):
        kept += (body[last:start], _CUT)
        last = end
    return b"".join((*kept, body[last:]))


def _listing(items: Sequence[Raw], kind: type[T], first: int) -> Listing[T]:
    good: list[T] = []
    unread: dict[Key, str] = {}
    decoder = msgspec.json.Decoder(kind)
    for number, raw in enumerate(items, first):
        try:
            good.append(decoder.decode(raw))
        except _UNREADABLE as error:
            unread[_key_of(raw, number)] = f"malformed: {error}"
    return Listing(tuple(good), unread)


def _key_of(raw: Raw, number: int) -> Key:
    """The key of this item, if it has one. A malformed name is shown in a form that cannot be a valid name."""
    unnamed = Key("", f"item {number} of the list")
    try:
        names = msgspec.json.decode(_shallow(bytes(raw)), type=_Names).metadata
    except _UNREADABLE:
        return unnamed
    if not isinstance(names.namespace, str) or not isinstance(names.name, str):
        return unnamed
    if not NAME.fullmatch(names.namespace):
        return Key(ascii(names.namespace)[:_NAME_SHOWN], unnamed.name)
    odd = not NAME.fullmatch(names.name)
    return Key(names.namespace, f"{ascii(names.name)[:_NAME_SHOWN]} ({unnamed.name})" if odd else names.name)


_NAME_SHOWN = 80


def single(body: bytes | bytearray, kind: type[T], key: Key) -> T:
    """The object of this kind and name.

    Raises:
        Unreadable: no JSON, another kind or another object: this is not the response of an API server.
        ObjectError: the object itself is malformed.
    """
    try:
        answered = msgspec.json.decode(body, type=_Kind)
    except RecursionError as error:
        raise ObjectError(f"The {kind.__name__} is malformed: {error}") from error
    except msgspec.MsgspecError as error:
        raise Unreadable(f"The response of the server is not a {kind.__name__}: {error}", _HINT) from error
    if answered.kind != kind.__name__:
        raise Unreadable(f"The server answered with {_shown(answered.kind)} instead of a {kind.__name__}", _HINT)
    try:
        whole = msgspec.json.decode(body, type=kind)
    except _UNREADABLE as error:
        raise ObjectError(f"The {kind.__name__} is malformed: {error}") from error
    if isinstance(whole, Takara | Deployment) and whole.key != key:
        raise Unreadable(f"The server answered with {kind.__name__} {whole.key} instead of {key}", _HINT)
    return whole


def _shown(kind: str) -> str:
    return ascii(one_line(kind)[:_NAME_SHOWN] or "something")
