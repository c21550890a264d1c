"""Promises of this folder that are kept outside of the core, whose mutants are tried: each is broken, and found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest

from takara_sync import reconcile, report
from takara_sync.cli import logs, plan, render
from takara_sync.kube import decode
from takara_sync.objects import Listing
from tests.poison.hostile import DEPLOYMENTS
from tests.poison.outputs import Recorder, check_text
from tests.poison.surviving import poisoned, survives
from tests.poison.test_hostile import shown
from tests.poison.test_objects import test_what_is_left_undecoded_until_the_write_costs_itself as undecoded
from tests.poison.values import at
from tests.poison.world import BAD, World, drifted

Check = Callable[[World, Path], object]

NASTY = {BAD[1]: DEPLOYMENTS["a nasty manager"]}


def as_it_is(value: Any, *_: Any) -> Any:
    return value


def as_json(document: object) -> str:
    return msgspec.json.encode(document).decode()


def whole_page(items: list[Any], kind: type[Any], _: int) -> Listing[Any]:
    return Listing(tuple(msgspec.json.decode(b"[" + b",".join(map(bytes, items)) + b"]", type=list[kind])))  # type: ignore[valid-type]


def surviving(base: World, _: Path) -> None:
    survives(drifted(base), {BAD[1]: at("deployments", ("metadata", "uid"), "a number", b"5")})


def writing(base: World, _: Path) -> None:
    undecoded(base)


def showing(base: World, folder: Path) -> None:
    shown(base, Recorder(folder), NASTY)


def logging_alone(base: World, folder: Path) -> None:
    """The log, where the words that go into it have not been cleaned before."""
    recorder = Recorder(folder)
    world = poisoned(drifted(base), NASTY)
    world.poisoned_in = {"lists"}
    with mock.patch.object(report, "one_line", as_it_is):
        recorder.once(world, "text", terminal=False)
    check_text("log", recorder.said["text: log"])


BUGS: dict[str, tuple[Any, str, Any, Check]] = {
    "the plan is not cleaned": (plan, "describe", lambda change: change.manager, showing),
    "the log in text is not cleaned": (logs, "one_line", as_it_is, logging_alone),
    "the report in JSON is not escaped": (render, "json_line", as_json, showing),
    "a page is decoded at once": (decode, "_listing", whole_page, surviving),
    "what is malformed is a bug": (reconcile, "ObjectError", KeyError, writing),
}


@pytest.mark.parametrize("name", BUGS)
def test_a_broken_promise_is_found(base: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    module, attribute, bug, check = BUGS[name]
    monkeypatch.setattr(module, attribute, bug)
    with pytest.raises((AssertionError, ValueError, AttributeError)):
        check(base, tmp_path)
