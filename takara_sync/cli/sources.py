"""What was said where: flags, variables and the config file, each by the name of its field."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from takara_sync.cli.settings import ENV_PREFIX, Settings
from takara_sync.errors import ConfigurationError
from takara_sync.kube.plain_yaml import plain_yaml

_KEY_MAX = 40  # characters
# What Kubernetes injects for Services named takara-sync or takara-sync-metrics.
_SERVICE_LINK = re.compile(r"TAKARA_SYNC_(.*_)?(PORT|SERVICE_).*")


def flag_of(field: str) -> str:
    return "--" + field.replace("_", "-")


class Given:
    """What was said where: the flags, the variables and the file, each by field name."""

    def __init__(self, flags: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self.flags = dict(flags)
        self.variables = _variables(environ)
        self.path = self.flags.get("config") or environ.get(self.variables.get("config", ""), "")
        self.file = _file(self.path) if self.path else {}

    def source_of(self, field: str) -> str:
        """Where the value of this field comes from, as its author would call it."""
        if field in self.flags:
            return flag_of(field)
        if field in self.variables:
            return self.variables[field]
        return f"{self.path}: {field.replace('_', '-')}" if field in self.file else flag_of(field)


def _variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that are ours, by field. WATCH_NAMESPACE means what it meant to the Go operator."""
    found: dict[str, str] = {}
    for name in environ:
        if not name.upper().startswith(ENV_PREFIX) or _SERVICE_LINK.fullmatch(name):
            continue
        field = name.upper().removeprefix(ENV_PREFIX).lower()
        if field not in Settings.model_fields:
            raise ConfigurationError(f"{name} is no setting{_similar(field)}")
        found[field] = name
    if environ.get("WATCH_NAMESPACE"):
        found.setdefault("namespace", "WATCH_NAMESPACE")
    return found


def _similar(field: str) -> str:
    close = difflib.get_close_matches(field[:_KEY_MAX], Settings.model_fields, 1)
    return f", did you mean {ENV_PREFIX}{close[0].upper()} ({flag_of(close[0])})?" if close else ""


def _file(path: str) -> dict[str, Any]:
    try:
        if Path(path).exists() and not Path(path).is_file():
            raise ConfigurationError(f"The config file {path} is no regular file")
        content = plain_yaml(Path(path).read_bytes(), unique=True)
    except OSError as error:
        raise ConfigurationError(f"The config file {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigurationError(f"The config file {path} cannot be used: {error}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigurationError(f"The config file {path} holds no mapping of options")
    values = {str(key).replace("-", "_"): value for key, value in content.items()}
    for key in content:
        field = str(key).replace("-", "_")
        if field not in Settings.model_fields or field == "config":
            raise ConfigurationError(f"{path}: {_key(key)} is no setting{_similar(field)}")
    if len(values) < len(content):
        raise ConfigurationError(f"{path}: a setting is there twice, with dashes and underscores")
    return values


def _key(key: Any) -> str:
    """A key as it may be shown: what does not look like one may be a secret that lacks its colon."""
    return str(key) if re.fullmatch(r"[\w-]+", str(key)) and len(str(key)) <= _KEY_MAX else "a key"
