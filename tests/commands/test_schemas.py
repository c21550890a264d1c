"""The published schemas. Commands.json validates every output of every test; here is that they leave nothing open."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.commands.running import DOCS, Commands
from tests.commands.scenarios import a_mixed_fleet
from tests.contract.simulated import Simulated
from tests.world import World

KINDS = {
    "report": ("once", "--dry-run"),
    "plan": ("plan",),
    "check": ("check",),
    "status": ("status",),
    "adopt": ("adopt", "--restored"),
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One output of each kind, with every sort of line in it."""
    with Simulated(tmp_path_factory.mktemp("fleet")) as simulated:
        world = World(simulated, simulated.namespace())
        commands = Commands(simulated, world.namespace)
        a_mixed_fleet(world, commands)
        return {kind: commands.json(*args).report for kind, args in KINDS.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_schemas_are_schemas(kind: str) -> None:
    Draft202012Validator.check_schema(json.loads((DOCS / f"{kind}.schema.json").read_text()))


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_documented(printed: dict[str, Any], kind: str) -> None:
    """Also of objects in objects: what is written but not in the schema is a promise that nobody has made."""
    schema = json.loads((DOCS / f"{kind}.schema.json").read_text())
    known = {name for each in schema["$defs"].values() for name in each.get("properties", {})}

    found = printed[kind]
    lines = [line for value in found.values() if isinstance(value, list) for line in value if isinstance(line, dict)]
    changes = [change for line in lines for change in line.get("changes", [])]
    assert {key for each in (found, *lines, *changes) for key in each} <= known
