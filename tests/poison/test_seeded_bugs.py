"""Each promise of this folder can be broken, and its test sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest import mock

import msgspec
import pytest

from takara_sync import changes, objects, report, status
from takara_sync.cli import logs, plan, render
from takara_sync.kube import decode
from takara_sync.objects import Listing, ManagedFieldsEntry
from tests.poison.hostile import DEPLOYMENTS, TAKARAS
from tests.poison.outputs import Recorder, check_text
from tests.poison.surviving import poisoned, survives
from tests.poison.test_hostile import shown
from tests.poison.test_stored import settles
from tests.poison.values import Poison, at
from tests.poison.world import BAD, drifted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.poison.world import World

    Check = Callable[[World, Path, dict[str, Poison]], object]
    Bug = Callable[[pytest.MonkeyPatch], None]


def as_it_is(value: Any, *_: Any) -> Any:
    return value


def as_json(document: object) -> str:
    return msgspec.json.encode(document).decode()


def whole_page(items: list[Any], kind: type[Any], first: int = 0) -> Listing[Any]:  # noqa: ARG001
    return Listing(tuple(msgspec.json.decode(b"[" + b",".join(map(bytes, items)) + b"]", type=list[kind])))  # type: ignore[valid-type]


def strict(body: bytes, kind: type[Any]) -> Any:
    return msgspec.json.decode(body, type=kind), body


def echoing(takara: objects.Takara) -> list[Any]:
    """Conditions of others, as they are, but never in the order that they had."""
    conditions = takara.told.get("conditions")
    found = [one for one in conditions if isinstance(one, dict)] if isinstance(conditions, list) else []
    return [one for one in reversed(found) if one.get("type") not in ("Ready", "Stalled")]


def raw_fields(self: ManagedFieldsEntry) -> Any:
    return msgspec.json.decode(self.fields_v1)


def surviving(base: World, _: Path, batch: dict[str, Poison]) -> object:
    return survives(drifted(base), batch)


def showing(base: World, folder: Path, batch: dict[str, Poison]) -> object:
    shown(base, Recorder(folder), batch)
    return None


def logging_alone(base: World, folder: Path, batch: dict[str, Poison]) -> object:
    """The log, where the words that go into it have not been cleaned before."""
    recorder = Recorder(folder)
    with mock.patch.object(report, "one_line", as_it_is):
        recorder.once(poisoned(drifted(base), batch), "text", terminal=False)
    check_text("log", recorder.said["text: log"])
    return None


def settling(base: World, _: Path, batch: dict[str, Poison]) -> object:
    return settles(drifted(base), batch)


def bug(module: Any, name: str, value: Any) -> Bug:
    return lambda monkeypatch: monkeypatch.setattr(module, name, value)


def far(path: tuple[str | int, ...], raw: bytes) -> Poison:
    return at("deployments", path, "seeded", raw)


MANAGER = DEPLOYMENTS["a nasty manager"]
BUGS: dict[str, tuple[Bug, Check, Poison]] = {
    "the table is not cleaned": (bug(report, "one_line", as_it_is), showing, MANAGER),
    "the plan is not cleaned": (bug(plan, "describe", lambda change: change.manager), showing, MANAGER),
    "the log in text is not cleaned": (bug(logs, "one_line", as_it_is), logging_alone, MANAGER),
    "the report in JSON is not escaped": (bug(render, "json_line", as_json), showing, MANAGER),
    "the plan in JSON is not escaped": (bug(plan, "json_line", as_json), showing, MANAGER),
    "the log in JSON is not escaped": (
        bug(logs.JsonFormatter, "format", lambda _, record: as_json(getattr(record, "changes", {}))),
        showing,
        MANAGER,
    ),
    "a page is decoded at once": (bug(decode, "listing", whole_page), surviving, far(("metadata", "uid"), b"5")),
    "what stays raw is not looked at": (bug(decode, "_sound", as_it_is), surviving, far(("spec", "x"), b"1e400")),
    "half a character costs the page": (bug(decode, "_tolerant", strict), surviving, far(("spec", "x"), rb'"\ud800"')),
    "a fieldsV1 is believed": (
        bug(ManagedFieldsEntry, "fields", property(raw_fields)),
        surviving,
        DEPLOYMENTS["fieldsV1 of wrong types"],
    ),
    "the keys of a list are believed": (
        bug(changes, "_tell_apart", lambda _: True),
        surviving,
        DEPLOYMENTS["fieldsV1 of bad keys"],
    ),
    "odd conditions are echoed for ever": (
        bug(status, "_others", echoing),
        settling,
        TAKARAS["two conditions of others"],
    ),
    "messages are as long as they like": (
        bug(status, "one_line", as_it_is),
        surviving,
        DEPLOYMENTS["pods fail in a nasty way"],
    ),
}


@pytest.mark.parametrize("name", BUGS)
def test_a_broken_promise_is_noticed(
    base: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, long: bool
) -> None:
    break_it, check, poison = BUGS[name]
    if long:  # that it passes unbroken is what the other tests say of the same poison
        check(base, tmp_path, {BAD[1]: poison})
    break_it(monkeypatch)
    with pytest.raises((AssertionError, ValueError, AttributeError)):
        check(base, tmp_path, {BAD[1]: poison})
