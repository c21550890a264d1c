"""Ways to break a rule of the simulator, for the tests of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from takara_sync.simulator import reading

    Bug = Callable[[pytest.MonkeyPatch], None]


def nothing(*_: Any, **__: Any) -> None:
    """Checks nothing."""


def instead(module: Any, name: str, value: Any) -> Bug:
    """A bug that puts another function in the place of one."""
    return lambda monkeypatch: monkeypatch.setattr(module, name, value)


def around(module: Any, name: str, change: Callable[[Any], Any]) -> Bug:
    """A bug that changes what a function returns."""
    right = getattr(module, name)
    return instead(module, name, lambda *args, **more: change(right(*args, **more)))


def no_new_page_moment(self: reading.Lists, _: int, kind: Any, namespace: str, **__: Any) -> Any:
    """Pages that show the present instead of the moment of the first."""
    return self._objects.all(kind, namespace)


def untested(right: Any) -> Any:
    """JSON patches without their tests."""
    return lambda target, operations: right(target, [one for one in operations if one["op"] != "test"])


def all_owners(entries: Any, *_: Any) -> Any:
    """Nobody ever loses or gets a field."""
    return list(entries)


def kept_entries(right: Any) -> Any:
    """An apply that leaves the entries of others as they are."""

    def applied(entries: Any, live: Any, wanted: Any, writer: Any) -> Any:
        result, after, lost = right(entries, live, wanted, writer)
        others = [one for one in entries if one.ident != writer.ident]
        return result, [*others, after[-1]], lost

    return applied
