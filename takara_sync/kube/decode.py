"""Reading answers: narrow, fast, and so that one malformed item costs only itself. Pure."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from takara_sync.errors import ObjectError, Unreadable
from takara_sync.objects import Key, Listing

T = TypeVar("T")

_HINT = "Is this the address of a Kubernetes API server? A proxy in between may answer in its place."

_UNREADABLE = (msgspec.MsgspecError, RecursionError)  # the latter: nested deeper than anything that has a meaning


class _ListMeta(Struct, frozen=True):
    next: str = msgspec.field(name="continue", default="")


class _Page(Struct, frozen=True):
    kind: str = ""
    metadata: _ListMeta = _ListMeta()
    items: list[Raw] | None = None  # the server says null for none


class _Names(Struct, frozen=True):
    metadata: dict[str, Any] = {}


class _Kind(Struct, frozen=True):
    kind: str = ""


def page(body: bytes, kinds: tuple[str, ...]) -> tuple[list[Raw], str]:
    """The items of a page, still undecoded, and the token of the next one, "" on the last.

    Raises:
        Unreadable: no JSON, or a list of another kind.
    """
    try:
        decoded, items = _decoded_page(body)
    except _UNREADABLE as error:
        raise Unreadable(f"The server's answer is no {kinds[0]}: {error}", _HINT) from error
    if decoded.kind not in kinds:
        raise Unreadable(f"The server answered with {decoded.kind or 'something'!r} instead of a {kinds[0]}", _HINT)
    return items, decoded.metadata.next


def _decoded_page(body: bytes) -> tuple[_Page, list[Raw]]:
    try:
        decoded = msgspec.json.decode(body, type=_Page)
    except RecursionError:  # one item nested without measure must not cost the others
        head, items = _cut_out_items(body)
        return msgspec.json.decode(head, type=_Page), items
    return decoded, decoded.items or []


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')


def _cut_out_items(body: bytes) -> tuple[bytes, list[Raw]]:
    """The list without its items, and the items, found by counting brackets: no depth is too much for that."""
    items: list[Raw] = []
    depth, start, opened, key = 0, 0, -1, b""
    for token in _TOKEN.finditer(body):
        text = token[0]
        if text in (b"{", b"["):
            depth += 1
            if depth == 2 and text == b"[" and key == b'"items"':  # noqa: PLR2004 - within the list object
                opened = token.end()
            elif depth == 3 and opened >= 0:  # noqa: PLR2004 - an item of it
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


def listing(items: list[Raw], kind: type[T]) -> Listing[T]:
    """The items decoded one by one; what cannot be read is named with the reason."""
    good: list[T] = []
    unread: dict[Key, str] = {}
    decoder = msgspec.json.Decoder(kind)
    for number, raw in enumerate(items):
        try:
            good.append(decoder.decode(raw))
        except _UNREADABLE as error:
            unread[_key_of(raw, number)] = f"malformed: {error}"
    return Listing(tuple(good), unread)


def _key_of(raw: Raw, number: int) -> Key:
    """Whose item this is, as far as that can be told."""
    try:
        names = msgspec.json.decode(raw, type=_Names).metadata
        return Key(str(names["namespace"]), str(names["name"]))
    except (*_UNREADABLE, KeyError):
        return Key("", f"item {number} of the list")


def single(body: bytes, kind: type[T]) -> T:
    """One object of this kind.

    Raises:
        Unreadable: no JSON, or another kind: whoever answered, it was not the API server.
        ObjectError: the object itself is malformed.
    """
    try:
        found = msgspec.json.decode(body, type=_Kind).kind
    except RecursionError as error:
        raise ObjectError(f"The {kind.__name__} is malformed: {error}") from error
    except msgspec.MsgspecError as error:
        raise Unreadable(f"The server's answer is no {kind.__name__}: {error}", _HINT) from error
    if found != kind.__name__:
        raise Unreadable(f"The server answered with {found or 'something'!r} instead of a {kind.__name__}", _HINT)
    try:
        return msgspec.json.decode(body, type=kind)
    except _UNREADABLE as error:
        raise ObjectError(f"The {kind.__name__} is malformed: {error}") from error
