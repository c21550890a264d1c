"""JSON patches as the status write uses them: `test` and `add`."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.build import Json


class PatchTestFailed(Exception):
    """A JSON patch tests for something else than there is."""


def patched(value: Json, patch: list[Json]) -> Json:
    """The object after a JSON patch of `test` and `add`. As on a real server null matches what is absent."""
    result = deepcopy(value)
    for step in patch:
        *parents, last = step["path"].removeprefix("/").split("/")
        parent = result
        for name in parents:
            parent = parent[name]
        if step["op"] == "add":
            parent[last] = deepcopy(step["value"])
        elif parent.get(last) != step["value"]:
            raise PatchTestFailed(step["path"])
    return result
