"""Lists as no API server gives them: names that are none, namesakes by case, answers that are no JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.poison.outputs import Recorder
from tests.poison.surviving import poisoned, survives
from tests.poison.values import NASTY, at
from tests.poison.world import BAD, DEPLOYMENTS, World, drifted

NAMES = {
    "capitals": BAD[0].upper(),
    "a path": "../t00-good",
    "dots": "..",
    "a query": "x?force=true",
    "an escape": NASTY,
    "a good one and a line": "t00-good\n",
    "a good one in disguise": "t00-good\u200b",
    "nothing": "",
    "a megabyte": "a" * 2**20,
    "254 characters": "a" * 254,
}


@pytest.mark.parametrize("plural", ["takaras", "deployments"])
@pytest.mark.parametrize("part", ["name", "namespace"])
def test_a_name_that_is_none_is_an_item_of_the_list(base: World, recorder: Recorder, plural: str, part: str) -> None:
    poisons = [at(plural, ("metadata", part), what, json.dumps(name).encode()) for what, name in NAMES.items()]
    batch = dict(zip(BAD, poisons, strict=False))
    report = survives(drifted(base), batch)
    if plural == "takaras":
        unread = [outcome for outcome in report.takaras if outcome.reason == "Unread"]
        assert len(unread) == len(NAMES)
        assert all("item " in outcome.key.name and len(outcome.key.name) < 120 for outcome in unread)
    recorder.commands(poisoned(drifted(base), batch), "text", terminal=False)
    recorder.once(poisoned(drifted(base), batch), "text", terminal=True)
    recorder.check()


def test_where_a_deployment_has_no_name_none_is_created(base: World) -> None:
    """The one that could not be read may be anybody's."""
    world = poisoned(drifted(base), {BAD[0]: at("deployments", ("metadata",), "a number", b"5")})
    (outcome,) = (each for each in world.sync().takaras if each.key.name == BAD[0])
    assert (str(outcome.result), outcome.reason) == ("failed", "Unread")
    assert f"{DEPLOYMENTS}/{BAD[0]}" not in [path for _, path, _ in world.writes]


NO_JSON = {
    "NaN": b"NaN",
    "Infinity": b"-Infinity",
    "a bare escape character": b'"\x1b[31m"',
    "a bare NUL": b'"\x00"',
    "an escape that is none": rb'"\x"',
    "a cut text": b'"x',
    "nothing": b"",
    "a number that is none": b"01",
}


@pytest.mark.parametrize("plural", ["takaras", "deployments", "pods"])
@pytest.mark.parametrize("what", NO_JSON)
def test_a_page_that_is_no_json_stops_the_pass(base: World, tmp_path: Path, plural: str, what: str) -> None:
    """No part of it can be believed; what the pass had not begun is not begun."""
    world, recorder = (
        poisoned(drifted(base), {BAD[0]: at(plural, ("metadata", "uid"), what, NO_JSON[what])}),
        Recorder(tmp_path),
    )
    recorder.once(world, "text", terminal=False)
    assert recorder.codes == {"text": 3}
    recorder.check()
    assert plural == "pods" or world.writes == []
