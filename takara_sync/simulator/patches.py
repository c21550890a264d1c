"""The three patch types besides apply, as pure functions on decoded JSON."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jsonpatch
import msgspec
from jsonpointer import JsonPointer, JsonPointerException

from takara_sync.simulator.merging import fields_of, merge, strategic_parts
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


JSON_PATCH, MERGE, STRATEGIC = (f"application/{kind}-patch+json" for kind in ("json", "merge", "strategic-merge"))

# From what is stored, and the decoded body, to what is written; by content type.
PATCHES: dict[str, Callable[[Any, Any], Any]] = {
    JSON_PATCH: json_patch,
    MERGE: partial(merge, divide=fields_of),
    STRATEGIC: partial(merge, divide=strategic_parts),
}
