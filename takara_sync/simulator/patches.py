"""The three patch types besides apply, as pure functions on decoded JSON.

JSON patch is our own code because the real server's library (evanphx/json-patch) lets a test for null match what is
absent, on which the product's status write relies, and lets a replace add; a library would have to be bent to that.
"""

from __future__ import annotations

import json
from typing import Any

from takara_sync.simulator.fieldsets import ASSOCIATIVE
from takara_sync.simulator.wire import Json, Refusal, bad_request

# Strategic merge keys differ from server-side apply's in this one.
_MERGE_KEYS = {**{name: keys[0] for name, keys in ASSOCIATIVE.items()}, "ports": "containerPort"}
_SETS = ("finalizers",)


class _Refused(Exception):
    pass


def json_patch(target: Any, operations: Any) -> Any:
    """RFC 6902.  Raises Refusal: 400 where the patch is malformed, 422 with empty details where it does not fit."""
    if not isinstance(operations, list) or not all(isinstance(item, dict) for item in operations):
        raise bad_request("error decoding patch: json: cannot unmarshal into Go value of type jsonpatch.Patch")
    holder = {"": json.loads(json.dumps(target))}
    try:
        for operation in operations:
            _operate(holder, operation)
    except (_Refused, KeyError, TypeError, AttributeError) as error:
        raise Refusal(422, "Invalid", "the server rejected our request due to an error in our request", {}) from error
    return holder[""]


def _operate(holder: Json, operation: Json) -> None:
    kind, path = operation["op"], operation["path"].split("/")
    if kind == "test":
        if _read(holder, path, missing=None) != operation.get("value"):
            raise _Refused
    elif kind in ("add", "replace"):  # a replace of what is absent adds it, as there
        _write(holder, path, operation["value"], insert=kind == "add")
    elif kind == "remove":
        _take(holder, path)
    elif kind in ("move", "copy"):
        source = operation["from"].split("/")
        value = _take(holder, source) if kind == "move" else json.loads(json.dumps(_read(holder, source)))
        _write(holder, path, value, insert=True)
    else:
        raise _Refused


_RAISE: Any = object()


def _step(node: Any, token: str) -> Any:
    if isinstance(node, list):
        if not token.isdigit() or int(token) >= len(node):
            raise KeyError(token)
        return int(token)
    return token.replace("~1", "/").replace("~0", "~")


def _read(holder: Json, path: list[str], missing: Any = _RAISE) -> Any:
    node: Any = holder
    for depth, token in enumerate(path):
        last = depth == len(path) - 1
        if last and missing is not _RAISE and isinstance(node, dict):
            return node.get(_step(node, token), missing)
        node = node[_step(node, token)]
    return node


def _write(holder: Json, path: list[str], value: Any, *, insert: bool) -> None:
    node = _read(holder, path[:-1]) if path[:-1] else holder
    if isinstance(node, list) and insert:
        node.insert(len(node) if path[-1] == "-" else int(path[-1]), value)
    else:
        node[_step(node, path[-1])] = value


def _take(holder: Json, path: list[str]) -> Any:
    node = _read(holder, path[:-1]) if path[:-1] else holder
    return node.pop(_step(node, path[-1]))


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    base = target if isinstance(target, dict) else {}
    merged = {key: item for key, item in base.items() if patch.get(key, ...) is not None}
    return merged | {key: merge_patch(base.get(key), item) for key, item in patch.items() if item is not None}


def strategic_patch(target: Any, patch: Any, name: str = "") -> Any:
    """The strategic merge patch, as far as kubectl writes it: merge keys and the `$` directives."""
    if isinstance(patch, list):
        return _strategic_list(target, patch, name)
    if not isinstance(patch, dict):
        return patch
    if patch.get("$patch") == "replace":
        return {key: item for key, item in patch.items() if key != "$patch"}
    base = dict(target) if isinstance(target, dict) else {}
    if (kept := patch.get("$retainKeys")) is not None:
        base = {key: item for key, item in base.items() if key in kept}
    for key, item in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.split("/", 1)[1]
            base[field] = [one for one in base.get(field, []) if one not in item]
        elif item is None or (isinstance(item, dict) and item.get("$patch") == "delete"):
            base.pop(key, None)
        elif not key.startswith("$"):
            base[key] = strategic_patch(base.get(key), item, key)
    return base


def _strategic_list(target: Any, patch: list[Any], name: str) -> list[Any]:
    live = target if isinstance(target, list) else []
    if name in _SETS:
        return [*live, *(item for item in patch if item not in live)]
    key = _MERGE_KEYS.get(name)
    if key is None or {"$patch": "replace"} in patch:
        return [item for item in patch if item != {"$patch": "replace"}]
    if not all(isinstance(item, dict) and isinstance(item.get(key), str | int) for item in patch):
        raise bad_request(f"map: does not contain declared merge key: {key}")
    items = {item[key]: item for item in live}
    for item in patch:
        if item.get("$patch") == "delete":
            items.pop(item[key], None)
        else:
            items[item[key]] = strategic_patch(items.get(item[key], {}), item)
    return list(items.values())
