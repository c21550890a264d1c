"""Reading answers: narrow, fast, and so that one malformed item costs only itself. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from takara_sync.errors import ObjectError, Unreadable
from takara_sync.objects import NAME, Deployment, Key, Listing, Takara
from takara_sync.reasons import one_line

T = TypeVar("T")

_HINT = "Is this the address of a Kubernetes API server? A proxy in between may answer in its place."

_UNREADABLE = (msgspec.MsgspecError, RecursionError)  # the latter: nested deeper than anything that has a meaning


class _ListMeta(Struct, frozen=True):
    next: str = msgspec.field(name="continue", default="")


class _Page(Struct, frozen=True):
    kind: str = ""
    metadata: _ListMeta = _ListMeta()
    items: list[Raw] | UnsetType | None = UNSET  # the server says null for none


class _NamesMeta(Struct, frozen=True):
    namespace: Any = None
    name: Any = None


class _Names(Struct, frozen=True):
    metadata: _NamesMeta = _NamesMeta()


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
        raise Unreadable(f"The server answered with {_shown(decoded.kind)} instead of a {kinds[0]}", _HINT)
    return items, decoded.metadata.next


def _decoded_page(body: bytes) -> tuple[_Page, list[Raw]]:
    try:
        decoded, _ = _tolerant(body, _Page)
    except RecursionError:  # one item nested without measure must not cost the others
        head, items = _cut_out_items(body)
        return msgspec.json.decode(head, type=_Page), items
    if decoded.items is UNSET:
        raise msgspec.ValidationError("it has no items")
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


def listing(items: list[Raw], kind: type[T], first: int = 0) -> Listing[T]:
    """The items decoded one by one; what cannot be read is named with the reason.

    first: the number of the first of these items in the whole list.
    """
    good: list[T] = []
    unread: dict[Key, str] = {}
    decoder = msgspec.json.Decoder(kind)
    for number, raw in enumerate(items, first):
        try:
            good.append(_sound(decoder.decode(raw), raw))
        except _UNREADABLE as error:
            unread[_key_of(raw, number)] = f"malformed: {error}"
    return Listing(tuple(good), unread)


_DEPTH_MAX = 100  # an object with a meaning has 20; what is recursive stays far from the limit of the interpreter
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))


def _sound(found: T, raw: Raw | bytes) -> T:
    """`found`, where all of its JSON can be decoded: parts that stay raw are looked into in the middle of a pass only.

    Raises msgspec.MsgspecError: a number out of range, a text that is none, nested too deeply.
    """
    if isinstance(found, Takara | Deployment):
        whole = msgspec.json.decode(raw)
        if not _is_shallow(bytes(raw)):
            _must_be_shallow(whole)
    return found


def _is_shallow(raw: bytes) -> bool:
    """Whether it is nested to less than the limit. No loop in Python goes over the bytes: every object is asked.

    Brackets within texts can make it a False where True were right, never the other way round.
    """
    brackets = raw.translate(None, _ALL_BUT_BRACKETS)
    for _ in range(_DEPTH_MAX):
        if not brackets:
            return True
        brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
    return False


def _must_be_shallow(value: Any) -> None:
    level = [value]
    for _ in range(_DEPTH_MAX):
        level = [part for each in level for part in _parts(each)]
        if not level:
            return
    raise msgspec.ValidationError(f"nested deeper than {_DEPTH_MAX}")


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _key_of(raw: Raw, number: int) -> Key:
    """Whose item this is, as far as that can be told. What is no name is shown so that it is never taken for one."""
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
    """The JSON with null for everything that is nested deeper: no depth is too much for that."""
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


def single(body: bytes, kind: type[T], key: Key) -> T:
    """The object of this kind and name.

    Raises:
        Unreadable: no JSON, another kind or another object: whoever answered, it was not the API server.
        ObjectError: the object itself is malformed.
    """
    try:
        answered, body = _tolerant(body, _Kind)
    except RecursionError as error:
        raise ObjectError(f"The {kind.__name__} is malformed: {error}") from error
    except msgspec.MsgspecError as error:
        raise Unreadable(f"The server's answer is no {kind.__name__}: {error}", _HINT) from error
    if answered.kind != kind.__name__:
        raise Unreadable(f"The server answered with {_shown(answered.kind)} instead of a {kind.__name__}", _HINT)
    try:
        whole = _sound(msgspec.json.decode(body, type=kind), body)
    except _UNREADABLE as error:
        raise ObjectError(f"The {kind.__name__} is malformed: {error}") from error
    if isinstance(whole, Takara | Deployment) and whole.key != key:
        raise Unreadable(f"The server answered with {kind.__name__} {whole.key} instead of {key}", _HINT)
    return whole


def _shown(kind: str) -> str:
    return ascii(one_line(kind)[:_NAME_SHOWN] or "something")


_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|u[dD][89a-fA-F]\w\w|.)", re.DOTALL)


def _tolerant(body: bytes, kind: type[T]) -> tuple[T, bytes]:
    """`body` decoded, and as it was then: half a character is U+FFFD, as for Go's decoder, and costs no whole page."""
    try:
        return msgspec.json.decode(body, type=kind), body
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        whole = _ESCAPE.sub(lambda found: rb"\ufffd" if _is_half(found[0]) else found[0], body)
        return msgspec.json.decode(whole, type=kind), whole


def _is_half(escape: bytes) -> bool:
    return len(escape) == len(r"\ud800") and escape[1:2] == b"u"
