"""Reads YAML of a user. The errors quote nothing of it, because it may contain a secret."""

from __future__ import annotations

from typing import Any

import yaml


def plain_yaml(text: bytes, *, unique: bool = False) -> Any:
    """The value of one YAML document. unique: reject a duplicate key in the outermost mapping.

    Raises:
        ValueError: `text` is no YAML. The message contains at most the number of the line.
    """
    try:
        node = yaml.compose(text, yaml.SafeLoader) if unique else None
        value = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ValueError(f"not valid YAML at line {mark.line + 1}" if mark else "not valid YAML") from error
    except (ValueError, yaml.YAMLError, RecursionError, LookupError, AttributeError, TypeError, OverflowError) as error:
        raise ValueError("not valid YAML: it has a character, a number or a nesting that cannot be read") from error
    keys = [str(key.value) for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    if len(set(keys)) < len(keys):
        raise ValueError("a key is there twice")
    return value
