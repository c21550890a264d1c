"""Decodes responses: only the needed fields, fast; a malformed item does not affect the others. Pure."""

from __future__ import annotations

import re
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from takara_sync.errors import ObjectError, Unreadable
from takara_sync.objects import NAME, Deployment, Key, Listing, PodItem, Takara
from takara_sync.text import one_line

T = TypeVar("T")

_HINT = "Is this the address of a Kubernetes API server? Perhaps a proxy sent this response."

_UNREADABLE = (msgspec.MsgspecError, RecursionError)  # RecursionError: nested too deeply


class _ListMeta(Struct, frozen=True):
    next: str = msgspec.field(name="continue", default="")


class _Page(Struct, Generic[T], frozen=True):
    kind: str = ""
    metadata: _ListMeta = _ListMeta()
    items: list[T] | UnsetType | None = UNSET  # the server sends null for an empty list


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
        malformed = decoded.items is UNSET
    except _UNREADABLE:
        malformed = True
    if malformed:  # one malformed item must not affect the others
        decoded, found = _one_by_one(bytes(body), kind, kinds[0], first)
    if decoded.kind not in kinds:
        raise Unreadable(f"The server answered with {_shown(decoded.kind)} instead of a {kinds[0]}", _HINT)
    return found, decoded.metadata.next


_DECODERS: dict[type, msgspec.json.Decoder[_Page[Any]]] = {
    Deployment: msgspec.json.Decoder(_Page[Deployment]),
    Takara: msgspec.json.Decoder(_Page[Takara]),
    PodItem: msgspec.json.Decoder(_Page[PodItem]),
}


def _one_by_one(body: bytes, kind: type[T], expected: str, first: int) -> tuple[_Page[Any], Listing[T]]:
    try:
        decoded, items = _decoded_page(body)
    except _UNREADABLE as error:
        raise Unreadable(f"The response of the server is not a {expected}: {error}", _HINT) from error
    return decoded, _listing(items, kind, first)


def _decoded_page(body: bytes) -> tuple[_Page[Raw], list[Raw]]:
    try:
        decoded = msgspec.json.decode(body, type=_Page[Raw])
    except RecursionError:  # an item that is nested too deeply must not affect the others
        head, items = _cut_out_items(body)
        return msgspec.json.decode(head, type=_Page[Raw]), items
    if decoded.items is UNSET:
        raise msgspec.ValidationError("it has no items")
    return decoded, decoded.items or []


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')


def _cut_out_items(body: bytes) -> tuple[bytes, list[Raw]]:
    """The list without its items, and the items. It counts brackets, so any depth is possible."""
    items: list[Raw] = []
    depth, start, opened, key = 0, 0, -1, b""
    for token in _TOKEN.finditer(body):
        text = token[0]
        if text in (b"{", b"["):
            depth += 1
            if depth == 2 and text == b"[" and key == b'"items"':  # noqa: PLR2004 - in the list object
                opened = token.end()
            elif depth == 3 and opened >= 0:  # noqa: PLR2004 - an item
                start = token.start()
        elif text in (b"}", b"]"):
            depth -= 1
            if depth == 2 and opened >= 0:  # noqa: PLR2004
                items.append(Raw(body[start : token.end()]))
            elif depth == 1 and opened >= 0:
                return body[:opened] + body[token.start() :], items
        elif depth == 1:
            key = text
    raise msgspec.DecodeError("the list is not closed")


def _listing(items: list[Raw], kind: type[T], first: int) -> Listing[T]:
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


def _shallow(raw: bytes, depth_max: int = 2) -> bytes:
    """The JSON with null for everything that is nested deeper than `depth_max`."""
    kept: list[bytes] = []
    depth, end = 0, 0
    for token in _TOKEN.finditer(raw):
        if token[0] in (b"{", b"["):
            depth += 1
            if depth == depth_max + 1:
                kept += (raw[end : token.start()], b"null")
        elif token[0] in (b"}", b"]"):
            end = token.end() if depth == depth_max + 1 else end
            depth -= 1
    return b"".join((*kept, raw[end:]))


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
