"""The published schemas. Commands.json holds every output of every test to them; here is that they would notice."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from tests.commands.running import DOCS, Commands, validate
from tests.commands.scenarios import a_mixed_fleet
from tests.contract.simulated import Simulated
from tests.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = {"report": ("once", "--dry-run"), "plan": ("plan",), "check": ("check",)}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One output of each kind, with every sort of line in it."""
    with Simulated(tmp_path_factory.mktemp("fleet")) as simulated:
        world = World(simulated, simulated.namespace())
        commands = Commands(simulated, world.namespace)
        a_mixed_fleet(world, commands)
        return {kind: commands.json(*args).report for kind, args in KINDS.items()}


@pytest.fixture
def documents(printed: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(printed)


@pytest.mark.parametrize("kind", KINDS)
def test_the_schemas_are_schemas(kind: str) -> None:
    Draft202012Validator.check_schema(json.loads((DOCS / f"{kind}.schema.json").read_text()))


def _each(found: Any) -> Any:
    return found[0] if isinstance(found, list) else found


SPOILT: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "no exit code": ("report", lambda found: found.pop("exit")),
    "an exit code in words": ("plan", lambda found: found.update(exit="1")),
    "a Takara without a name": ("report", lambda found: _each(found["takaras"]).pop("name")),
    "a result that there is not": ("report", lambda found: _each(found["takaras"]).update(result="done")),
    "a change without a field": (
        "plan",
        lambda found: next(line for line in found["takaras"] if line["changes"])["changes"][0].pop("field"),
    ),
    "a check without a verdict": ("check", lambda found: _each(found["checks"]).pop("ok")),
    "an action that there is not": ("plan", lambda found: _each(found["takaras"]).update(action="destroy")),
}


@pytest.mark.parametrize(("kind", "spoil"), SPOILT.values(), ids=SPOILT.keys())
def test_what_is_spoilt_is_noticed(documents: dict[str, Any], kind: str, spoil: Callable[[Any], Any]) -> None:
    validate(documents[kind])
    spoil(documents[kind])

    with pytest.raises(ValidationError):
        validate(documents[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_documented(documents: dict[str, Any], kind: str) -> None:
    """Also of objects in objects: what is written but not in the schema is a promise that nobody has made."""
    schema = json.loads((DOCS / f"{kind}.schema.json").read_text())
    known = {name for each in schema["$defs"].values() for name in each.get("properties", {})}

    found = documents[kind]
    lines = [line for value in found.values() if isinstance(value, list) for line in value if isinstance(line, dict)]
    changes = [change for line in lines for change in line.get("changes", [])]
    assert {key for each in (found, *lines, *changes) for key in each} <= known


def test_a_bounded_loop_writes_one_document_a_line(simulated: Simulated) -> None:
    world = World(simulated, simulated.namespace())
    commands = Commands(simulated, world.namespace)
    a_mixed_fleet(world, commands)

    done = commands.run("--interval", "100ms", "--duration", "350ms", "-o", "json")

    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(reports) > 1
    for report in reports:
        validate(report)
    assert reports[-1]["exit"] == done.code
