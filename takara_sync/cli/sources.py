"""Where a setting comes from when no flag gives it: a variable, then the config file. What is misspelt is refused."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from takara_sync.errors import ConfigurationError
from takara_sync.kube.plain_yaml import plain_yaml

ENV_PREFIX = "TAKARA_SYNC_"
_KEY_MAX = 40  # characters
# What Kubernetes injects for Services named takara-sync or takara-sync-metrics.
_SERVICE_LINK = re.compile(r"TAKARA_SYNC_(.*_)?(PORT|SERVICE_).*")


def flag_of(field: str) -> str:
    return "--" + field.replace("_", "-")


def source_of(field: str, flags: Mapping[str, Any], fields: Collection[str]) -> str:
    """Where the value of this field comes from, as its author would call it."""
    variables = variables_of(fields)
    if field in flags:
        return flag_of(field)
    if field in variables:
        return variables[field]
    return f"{flags.get('config') or os.environ[variables['config']]}: {field.replace('_', '-')}"


def variables_of(fields: Collection[str]) -> dict[str, str]:
    """Our variables in the environment, by field. WATCH_NAMESPACE means what it meant to the Go operator.

    Raises:
        ConfigurationError: a variable with our prefix belongs to no field.
    """
    found: dict[str, str] = {}
    for name in os.environ:
        if name.upper().startswith(ENV_PREFIX) and not _SERVICE_LINK.fullmatch(name):
            field = name.upper().removeprefix(ENV_PREFIX).lower()
            _must_be_a_setting(field, name, fields)
            found[field] = name
    if os.environ.get("WATCH_NAMESPACE"):
        found.setdefault("namespace", "WATCH_NAMESPACE")
    return found


def values_of_file(path: str, fields: Collection[str]) -> dict[str, Any]:
    """The settings of a config file, by field; an empty file has none.

    Raises:
        ConfigurationError: the file cannot be read, is no mapping in YAML, or has a key that belongs to no field.
    """
    values: dict[str, Any] = {}
    for key, value in _mapping(path).items():
        field = str(key).replace("-", "_")
        _must_be_a_setting(field if field != "config" else "", f"{path}: {_shown(key)}", fields)
        if field in values:
            raise ConfigurationError(f"{path}: {_shown(key)} is a duplicate key, with dashes and underscores")
        values[field] = value
    return values


def _mapping(path: str) -> dict[Any, Any]:
    try:
        if Path(path).exists() and not Path(path).is_file():  # reading a FIFO or a device might never end
            raise ConfigurationError(f"The config file {path} is not a regular file")
        content = plain_yaml(Path(path).read_bytes(), unique=True)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigurationError(f"The config file {path} cannot be used: {why}") from error
    if not isinstance(content, dict | None):
        raise ConfigurationError(f"The config file {path} does not hold a mapping of options")
    return content or {}


def _must_be_a_setting(field: str, name: str, fields: Collection[str]) -> None:
    if field not in fields:
        close = difflib.get_close_matches(field[:_KEY_MAX], fields, 1)
        hint = f", did you mean {ENV_PREFIX}{close[0].upper()} ({flag_of(close[0])})?" if close else ""
        raise ConfigurationError(f"{name} is not a setting{hint}")


def _shown(key: Any) -> str:
    """A key as it may be shown: what does not look like one may be a secret that lacks its colon."""
    return str(key) if re.fullmatch(r"[\w-]+", str(key)) and len(str(key)) <= _KEY_MAX else "a key"
