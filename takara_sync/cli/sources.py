"""Where a setting comes from: a flag, else a variable, else the config file. A misspelt name is an error."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from takara_sync.errors import ConfigurationError

ENV_PREFIX = "TAKARA_SYNC_"
_KEY = r"[\w-]{1,40}"
# What Kubernetes injects for Services named takara-sync or takara-sync-metrics.
_SERVICE_LINK = re.compile(r"TAKARA_SYNC_(.*_)?(PORT|SERVICE_).*")


class Given(NamedTuple):
    """A value that a user gave, and its source for messages: `--max-size`, `TAKARA_SYNC_MAX_SIZE`, `FILE: max-size`."""

    value: Any
    source: str


def flag_of(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def given(flags: Mapping[str, Any], fields: Collection[str]) -> dict[str, Given]:
    """What the user gave, by field. A flag overrides a variable, and a variable overrides the config file.

    Raises:
        ConfigurationError: a variable or a key belongs to no field, or the file cannot be read.
    """
    found = _variables(fields) | {field: Given(value, flag_of(field)) for field, value in flags.items()}
    path = found["config"].value if "config" in found else ""
    return (_from_file(path, fields) if path else {}) | found


def _variables(fields: Collection[str]) -> dict[str, Given]:
    """Our variables. WATCH_NAMESPACE means the same as in the Go operator."""
    found: dict[str, Given] = {}
    names = {field.upper(): field for field in fields}
    if os.environ.get("WATCH_NAMESPACE"):
        found["namespace"] = Given(os.environ["WATCH_NAMESPACE"], "WATCH_NAMESPACE")
    for name, value in os.environ.items():
        if name.upper().startswith(ENV_PREFIX) and not _SERVICE_LINK.fullmatch(name):
            field = _field(name.upper().removeprefix(ENV_PREFIX), names, name, ENV_PREFIX)
            found[field] = Given(value, name)
    return found


def _from_file(path: str, fields: Collection[str]) -> dict[str, Given]:
    """The settings of a config file; an empty file has none."""
    names = {flag_of(field).removeprefix("--"): field for field in fields if field != "config"}
    found = {}
    for key, value in _mapping(path).items():
        # What does not look like a key may be a secret: perhaps its line lacks the colon.
        source = f"{path}: {key if re.fullmatch(_KEY, str(key)) else 'a key'}"
        found[_field(str(key), names, source)] = Given(value, source)
    return found


def _mapping(path: str) -> dict[Any, Any]:
    from takara_sync.kube.kubeconfig import content  # noqa: PLC0415 - only if there is a file
    from takara_sync.kube.plain_yaml import plain_yaml  # noqa: PLC0415

    try:
        found = plain_yaml(content(path), unique=True)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigurationError(f"The config file {path} cannot be used: {why}") from error
    if not isinstance(found, dict | None):
        raise ConfigurationError(f"The config file {path} does not hold a mapping of options")
    return found or {}


def _field(word: str, names: Mapping[str, str], source: str, prefix: str = "") -> str:
    """The field with this name. prefix: of a name in a message."""
    if word not in names:
        raise ConfigurationError(f"{source} is not a setting{close_match(word, names, prefix)}")
    return names[word]


def close_match(word: str, names: Collection[str], prefix: str = "") -> str:
    """`, did you mean NAME?` with the name that looks most like a misspelt word; empty if none does."""
    close = difflib.get_close_matches(word[:40], names, 1)
    return f", did you mean {prefix}{close[0]}?" if close else ""
