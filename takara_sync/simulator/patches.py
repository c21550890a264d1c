"""The patches: how a server-side apply and the three other types change what is stored. Pure, on decoded JSON.

A merge divides both values into parts, and lays the parts of one over those of the other. What the parts are is the
difference between a merge patch, kubectl's strategic merge patch, and an apply.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jsonpatch
import msgspec
from jsonpointer import JsonPointer, JsonPointerException

from takara_sync.list_keys import ATOMIC, ATOMIC_ITEMS, KEY_DEFAULTS, KEYS, SETS
from takara_sync.simulator.wire import Refusal, bad_request
from takara_sync.text import canonical

Path = tuple[str, ...]
Parts = dict[str, Any]
Divide = Callable[[Any, Path], Parts | None]
"""The parts of the object or list at this path, by element of the path; None where it is one value."""

_ODD = (jsonpatch.JsonPatchException, JsonPointerException, KeyError, TypeError, AttributeError, ValueError, IndexError)
_WHOLE_ITEMS = {f"f:{name}" for name in ATOMIC_ITEMS}


def parts(value: Any, path: Path) -> Parts | None:
    """The parts that can have different owners (server-side apply)."""
    if path[-1:] and (path[-1][2:] in ATOMIC or (path[-2:-1] and path[-2] in _WHOLE_ITEMS)):
        return None
    return strategic_parts(value, path)


def strategic_parts(value: Any, path: Path) -> Parts | None:
    """The parts that kubectl's strategic merge patch merges one by one: of objects, and of lists with keys."""
    if not isinstance(value, list):
        return fields_of(value, path)
    name = path[-1][2:] if path else ""
    if name in KEYS and all(isinstance(item, dict) for item in value):
        named = [({key: item.get(key, KEY_DEFAULTS.get(key)) for key in KEYS[name]}, item) for item in value]
        return {f"k:{canonical(keys).decode()}": item for keys, item in named}
    return {f"v:{canonical(item).decode()}": item for item in value} if name in SETS else None


def fields_of(value: Any, _path: Path) -> Parts | None:
    """The fields of an object; a list is one value (RFC 7386)."""
    return {f"f:{key}": item for key, item in value.items()} if isinstance(value, dict) else None


def whole(divided: Parts, like: Any) -> Any:
    """The object or list of these parts."""
    return [*divided.values()] if isinstance(like, list) else {element[2:]: item for element, item in divided.items()}


def merge(live: Any, patch: Any, divide: Divide = parts, path: Path = ()) -> Any:
    """`patch` laid over `live`, part by part: null removes a part, and so does the directive `$patch: delete`.

    The other directives of kubectl only say in which order and by which keys the lists merge: they are left out.
    """
    stated = divide(patch, path)
    if stated is None:
        return patch
    merged = dict(divide(live, path) or {})
    for element, item in stated.items():
        if item is None or (isinstance(item, dict) and item.get("$patch") == "delete"):
            merged.pop(element, None)
        elif not element.startswith("f:$"):
            merged[element] = merge(merged.get(element), item, divide, (*path, element))
    return whole(merged, patch)


def json_patch(target: Any, operations: Any) -> Any:
    """RFC 6902. Raises Refusal: 400 where the patch is malformed, 422 with empty details where it does not fit.

    As in the API server, a test for null matches what is absent: the product's status write relies on that. Here it
    looks at the object as it was before the patch.
    """
    if not isinstance(operations, list) or not all(isinstance(item, dict) for item in operations):
        raise bad_request("error decoding patch: json: cannot unmarshal into Go value of type jsonpatch.Patch")
    try:
        left = [one for one in operations if not _finds_nothing(target, one)]
        copy = msgspec.json.decode(msgspec.json.encode(target))  # copy.deepcopy fails on what is nested deeply
        return jsonpatch.apply_patch(copy, left, in_place=True)
    except _ODD as error:
        raise Refusal(422, "Invalid", "the server rejected our request due to an error in our request", {}) from error


def _finds_nothing(target: Any, operation: dict[str, Any]) -> bool:
    """Whether it tests for null and there is nothing, or null."""
    wants_null = operation["op"] == "test" and operation.get("value") is None
    return wants_null and JsonPointer(operation["path"]).resolve(target, None) is None


JSON_PATCH, MERGE, STRATEGIC = (f"application/{kind}-patch+json" for kind in ("json", "merge", "strategic-merge"))

# From what is stored, and the decoded body, to what is written; by content type.
PATCHES: dict[str, Callable[[Any, Any], Any]] = {
    JSON_PATCH: json_patch,
    MERGE: partial(merge, divide=fields_of),
    STRATEGIC: partial(merge, divide=strategic_parts),
}
