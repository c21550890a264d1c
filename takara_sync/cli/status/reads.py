"""Reads with the rights of the caller: what the caller may not read is noted as not checked, and is no error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from takara_sync.deadline import Deadline
from takara_sync.errors import NotFound, ObjectError, Unreadable
from takara_sync.kube.api import Api
from takara_sync.kube.response import Request
from takara_sync.text import one_line

T = TypeVar("T")

_PAGE = 500


class UncheckedDocument(Struct, frozen=True):
    """What could not be read, and why."""

    what: str
    why: str


class _ListMeta(Struct, frozen=True):
    next: str = msgspec.field(name="continue", default="")


class _Page(Struct, Generic[T], frozen=True):
    metadata: _ListMeta = _ListMeta()
    items: list[T] | None = None


class Reader:
    """Reads objects of any kind. unchecked: what could not be read so far."""

    def __init__(self, api: Api, deadline: Deadline) -> None:
        self.api, self.deadline = api, deadline
        self.unchecked: list[UncheckedDocument] = []

    def attempt(self, what: str, read: Callable[[], T]) -> T | None:
        """What `read` returns. None if it could not be read; this is noted.

        Raises:
            PassStopped: nothing else can be read either (401, the deadline, a signal).
        """
        try:
            return read()
        except ObjectError as error:
            why = error.message
        except Unreadable as error:
            if not isinstance(error.__cause__, ObjectError):
                raise
            why = error.message
        except (msgspec.MsgspecError, RecursionError) as error:
            why = f"the response is malformed: {error}"
        self.unchecked.append(UncheckedDocument(what, one_line(why)))
        return None

    def items(self, path: str, kind: type[T], **query: str) -> list[T]:
        """A complete list. Raises ObjectError, PassStopped, msgspec's errors."""
        found: list[T] = []
        token = ""
        while True:
            asked = {**query, "limit": str(_PAGE)} | ({"continue": token} if token else {})
            body = self.api.send(Request("GET", path, tuple(asked.items())), self.deadline)
            page = msgspec.json.decode(body, type=_Page[kind])  # type: ignore[valid-type]
            found += page.items or []
            token = page.metadata.next
            if not token:
                return found

    def one(self, path: str, kind: type[T]) -> tuple[T, ...]:
        """One object; empty if it does not exist. Raises as `items`."""
        try:
            return (msgspec.json.decode(self.api.send(Request("GET", path), self.deadline), type=kind),)
        except NotFound:
            return ()
