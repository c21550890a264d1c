"""The three patch types besides apply, as pure functions on decoded JSON."""

from __future__ import annotations

from typing import Any

import jsonpatch
import msgspec
from jsonpointer import JsonPointer, JsonPointerException

from takara_sync.list_keys import KEYS
from takara_sync.simulator.wire import Refusal, bad_request

_ODD = (jsonpatch.JsonPatchException, JsonPointerException, KeyError, TypeError, AttributeError, ValueError, IndexError)


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


def merge_patch(target: Any, patch: Any, *, strategic: bool = False) -> Any:
    """RFC 7386; where `strategic`, keyed lists are merged, with those of the `$` directives that kubectl sends."""
    if not isinstance(patch, dict):
        return patch
    base = target if isinstance(target, dict) else {}
    kept = patch.get("$retainKeys", base) if strategic else base
    merged = {key: item for key, item in base.items() if key in kept and patch.get(key, ...) is not None}
    for key, item in patch.items():
        if strategic and key in KEYS and isinstance(item, list):
            merged[key] = _keyed(base.get(key) or [], item, KEYS[key][0])
        elif item is not None and not (strategic and key.startswith("$")):
            merged[key] = merge_patch(base.get(key), item, strategic=strategic)
    return merged


def strategic_patch(target: Any, patch: Any) -> Any:
    """The strategic merge patch of kubectl; see `merge_patch`."""
    return merge_patch(target, patch, strategic=True)


def _keyed(live: list[Any], patch: list[Any], key: str) -> list[Any]:
    if not all(isinstance(item, dict) and isinstance(item.get(key), str | int) for item in patch):
        raise bad_request(f"map: does not contain declared merge key: {key}")
    items = {item[key]: item for item in live}
    for item in patch:
        if item.get("$patch") == "delete":
            items.pop(item[key], None)
        else:
            items[item[key]] = strategic_patch(items.get(item[key], {}), item)
    return list(items.values())
