"""YAML as a program can take it from a person: plain, finite, and with errors that quote nothing of it."""

from __future__ import annotations

from typing import Any

import yaml

_BYTES_MAX = 2 * 2**20
_NODES_MAX = 100_000  # with every alias written out; a kubeconfig of hundreds of clusters has a few thousand


def plain_yaml(text: bytes, *, unique: bool = False) -> Any:
    """The value of one YAML document. unique: whether a key that its mapping has twice is a mistake.

    Raises:
        ValueError: it is no YAML, or would be endless or huge once its aliases are written out. The message says where,
            and quotes nothing: what stands there may be a secret.
    """
    if len(text) > _BYTES_MAX:
        raise ValueError(f"it is larger than {_BYTES_MAX >> 20} MiB")
    try:
        node = yaml.compose(text, yaml.SafeLoader)
        if node is not None and _size(node, {}) > _NODES_MAX:
            raise ValueError("its aliases make it huge")
        if unique and isinstance(node, yaml.MappingNode):
            _must_be_unique([key for key, _ in node.value])
        return _made(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ValueError(f"no YAML at line {mark.line + 1}" if mark else "no YAML") from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise ValueError("no YAML: it holds characters that no text has") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _must_be_unique(keys: list[yaml.Node]) -> None:
    seen = set()
    for key in keys:
        if str(key.value) in seen:
            raise ValueError(f"a key is there twice, at line {key.start_mark.line + 1}")
        seen.add(str(key.value))


def _made(text: bytes) -> Any:
    """The value. The constructors of YAML's tags raise whatever they meet, and quote the value (`!!int x`)."""
    try:
        return yaml.safe_load(text)
    except (ValueError, KeyError, AttributeError, TypeError, OverflowError) as error:
        if isinstance(error, UnicodeError):
            raise
        raise ValueError("a value does not fit its tag, or is no such date or number") from error


def _size(node: yaml.Node, known: dict[int, float]) -> float:
    """How many nodes `node` stands for; infinitely many where it is part of itself."""
    if id(node) not in known:
        known[id(node)] = float("inf")
        if isinstance(node, yaml.ScalarNode):
            node.value.encode()  # half a character is none
        parts = node.value if isinstance(node, yaml.CollectionNode) else ()
        known[id(node)] = 1 + sum(
            _size(part, known) for item in parts for part in (item if isinstance(item, tuple) else (item,))
        )
    return known[id(node)]
