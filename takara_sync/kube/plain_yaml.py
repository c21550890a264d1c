"""YAML as a program can take it from a person: plain, finite, and with errors that quote nothing of it."""

from __future__ import annotations

from typing import Any

import yaml

_BYTES_MAX = 2 * 2**20
_NODES_MAX = 100_000  # with every alias written out; a kubeconfig of hundreds of clusters has a few thousand


def plain_yaml(text: bytes) -> Any:
    """The value of one YAML document.

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
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ValueError(f"no YAML at line {mark.line + 1}" if mark else "no YAML") from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise ValueError("no YAML: it holds characters that no text has") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _size(node: yaml.Node, known: dict[int, float]) -> float:
    """How many nodes `node` stands for; infinitely many where it is part of itself."""
    if id(node) not in known:
        known[id(node)] = float("inf")
        parts = node.value if isinstance(node, yaml.CollectionNode) else ()
        known[id(node)] = 1 + sum(
            _size(part, known) for item in parts for part in (item if isinstance(item, tuple) else (item,))
        )
    return known[id(node)]
