"""Every option as one field of one model: flag, then variable, then file, then default.

A field's flag is its name with dashes, its variable the name in capitals behind `TAKARA_SYNC_`, its key in the
file is spelled as the flag.
"""

from __future__ import annotations

import os
import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, StringConstraints, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from takara_sync import __version__
from takara_sync.cli.selectors import checked
from takara_sync.cli.sources import values_of_file, variables_of
from takara_sync.plan import LEGACY_MANAGERS

_PASSES = ("once", "loop")
_DECIDING = (*_PASSES, "plan")
_CONNECTED = (*_DECIDING, "check")
_INSTALL = ("manifests",)
_LONGEST = 366 * 86400.0  # seconds; larger durations are typos, and above 292 years no lock can wait so long
_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def _seconds(value: Any) -> Any:
    """`10`, `1.5`, `500ms`, `10s`, `2m`, `1h` as seconds."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|)", value.strip())
    if match is None:
        raise ValueError("expected a duration such as 10, 10s, 500ms or 2m")
    return float(match[1]) * _UNITS[match[2]]


def _split(value: Any) -> Any:
    """Lists repeat or take commas, with or without spaces."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        return value  # pydantic says what is wrong with it
    parts = [part.strip() for text in texts for part in text.split(",")]
    if "" in parts or not parts:
        raise ValueError("an empty name in the list")
    return tuple(dict.fromkeys(parts))


def _matching(pattern: str, expected: str) -> AfterValidator:
    """Takes the texts that match; `expected` is what the message says."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(check)


def _web(url: SecretStr) -> SecretStr:
    try:
        parts = urlsplit(url.get_secret_value())
    except ValueError:  # whose text has a part of the URL
        raise ValueError("expected an http or https URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("expected an http or https URL")
    return url


def _number(value: Any) -> Any:
    """A number from the file, or the text of a flag. YAML's `yes` is not a number, though Python counts True as 1."""
    if isinstance(value, bool):
        raise ValueError("expected a number")  # noqa: TRY004 - pydantic reports ValueErrors
    return value


Number = Annotated[int, BeforeValidator(_number)]
Seconds = Annotated[
    float, BeforeValidator(_seconds), BeforeValidator(_number), Field(gt=0, le=_LONGEST, allow_inf_nan=False)
]
Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Namespace = Annotated[Text, _matching(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", "the name of a namespace")]
Namespaces = Annotated[tuple[Namespace, ...], BeforeValidator(_split)]
Image = Annotated[
    Text,
    _matching(r"[^\s-]\S*", "the name of an image, such as takara-sync:1.0 or registry/takara-sync@sha256:..."),
]
Schedule = Annotated[  # a time zone has no place in it: Kubernetes refuses TZ= as well
    Text,
    _matching(r"@[a-z]+|[-*,/?0-9A-Za-z]+( +[-*,/?0-9A-Za-z]+){4}", "five fields, such as '*/5 * * * *', or @hourly"),
]


def _option(
    group: str,
    help_text: str,
    default: Any,
    metavar: str = "",
    *,
    short: str = "",
    commands: tuple[str, ...] = _DECIDING,
    secret: bool = False,
) -> Any:
    extra: dict[str, Any] = {"group": group, "metavar": metavar, "short": short, "commands": list(commands)}
    return Field(default, description=help_text, json_schema_extra=extra | {"secret": secret})


class Settings(BaseSettings):
    """The options of takara-sync. Times are in seconds."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, validate_default=False)

    config: Text | None = _option(
        "Settings", "read options from this YAML file", None, "FILE", commands=(*_CONNECTED, *_INSTALL)
    )

    kubeconfig: Text | None = _option(
        "Cluster",
        "the kubeconfig; else $KUBECONFIG, ~/.kube/config, the pod's ServiceAccount",
        None,
        "FILE",
        commands=_CONNECTED,
    )
    context: Text | None = _option("Cluster", "the context of the kubeconfig", None, "NAME", commands=_CONNECTED)
    request_timeout: Seconds = _option(
        "Cluster", "how long one try of a request may take", 10.0, "SECONDS", commands=_CONNECTED
    )
    pass_timeout: Seconds = _option("Cluster", "how long a pass may take", 50.0, "SECONDS", commands=_CONNECTED)
    concurrency: Annotated[Number, Field(ge=1, le=256)] = _option(
        "Cluster", "requests in flight at once", 16, "N", commands=_CONNECTED
    )

    namespace: Namespaces = _option(
        "Scope", "only this namespace (repeats); default: all", (), "NAME", short="-n", commands=_CONNECTED
    )
    selector: Annotated[Text, AfterValidator(checked)] | None = _option(
        "Scope", "only Takaras that match this label selector", None, "SELECTOR", short="-l"
    )

    dry_run: bool = _option("Safety", "decide and report, write nothing", False, commands=_PASSES)
    max_size: Annotated[Number, Field(ge=0, lt=2**31)] = _option(
        "Safety", "a Takara with a larger size is invalid", 1000, "N"
    )
    max_changes: Annotated[Number, Field(ge=0)] | None = _option(
        "Safety", "change no Deployment when a pass would change more than this; default: no limit", None, "N"
    )
    allow_templates: bool = _option("Safety", "honour spec.template", False, commands=(*_DECIDING, *_INSTALL))
    legacy_manager: Names = _option(
        "Safety", "take over the fields of this field manager (repeats)", LEGACY_MANAGERS, "NAME"
    )
    accept_newer_format: bool = _option("Safety", "apply over what a newer takara-sync applied", False)

    server: bool = _option(
        "Plan", "send each change to the server as a dry run, and print its answer", False, commands=("plan",)
    )

    mode: Literal["cronjob", "loop", "once"] = _option(
        "Install",
        "a Job a minute with a pass every 10 s, a pod that stays, or a Job a minute with one pass",
        "cronjob",
        "MODE",
        commands=_INSTALL,
    )
    image: Image = _option(
        "Install", "the image of takara-sync", f"takara-sync:{__version__}", "IMAGE", commands=_INSTALL
    )
    schedule: Schedule | None = _option(
        "Install", "when the Job runs, as cron has it; default: every minute", None, "CRON", commands=_INSTALL
    )
    install_namespace: Namespace = _option(
        "Install",
        "where takara-sync itself runs",
        "takara-system",
        "NAME",
        commands=_INSTALL,
    )
    watch_namespace: Namespaces = _option(
        "Install", "rights in this namespace only (repeats); default: in all", (), "NAME", commands=_INSTALL
    )

    serve: bool = _option("Demo", "keep the embedded cluster up for kubectl", False, commands=("demo",))

    wait: Seconds | None = _option(
        "Passes",
        "repeat the pass until every Takara is Ready, for at most this long",
        None,
        "SECONDS",
        commands=("once",),
    )
    interval: Seconds | None = _option(
        "Passes", "a pass each time this long has gone by, until SIGTERM", None, "SECONDS", commands=("loop",)
    )
    duration: Seconds | None = _option(
        "Passes",
        "end the loop after this long; start no pass that would run past it",
        None,
        "SECONDS",
        commands=("loop",),
    )

    output: Literal["text", "wide", "json"] = _option(
        "Output", "the report on stdout", "text", "FORMAT", short="-o", commands=_CONNECTED
    )
    tolerate: Annotated[tuple[Literal["blocked", "invalid"], ...], BeforeValidator(_split)] = _option(
        "Output", "blocked, invalid: exit 0 although a person has to act", (), "WHAT"
    )
    heartbeat_url: Annotated[SecretStr, AfterValidator(_web)] | None = _option(
        "Output", "a dead-man's switch: URL/start, then URL or URL/fail", None, "URL", commands=_PASSES, secret=True
    )
    log_format: Literal["text", "json"] | None = _option(
        "Output", "the log on stderr; default: text on a terminal, else json", None, "FORMAT", commands=_CONNECTED
    )
    log_level: Literal["debug", "info", "warning", "error"] | None = _option(
        "Output", "default: info in a loop or off a terminal, else warning", None, "LEVEL", commands=_CONNECTED
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Settings:
        if "request_timeout" in self.model_fields_set and self.request_timeout > self.pass_timeout:
            raise ValueError(
                f"request-timeout ({self.request_timeout:g} s) exceeds pass-timeout ({self.pass_timeout:g} s)"
            )
        if self.duration is not None and self.interval is None:
            raise ValueError("duration needs an interval")
        if self.duration is not None and self.interval is not None and self.duration < self.interval:
            raise ValueError(f"duration ({self.duration:g} s) is shorter than interval ({self.interval:g} s)")
        if self.schedule is not None and self.mode == "loop":
            raise ValueError("schedule cannot be used with mode loop")
        if self.wait is not None and self.dry_run:
            raise ValueError("wait cannot be used with dry-run")
        return self

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The flags, which come as arguments, then our variables, then the config file that either of them names.

        The environment source of pydantic-settings ignores a misspelt variable; no .env file and no folder of secrets
        is read.
        """
        variables = {field: os.environ[name] for field, name in variables_of(cls.model_fields).items()}
        path = (variables | init_settings()).get("config")
        file = values_of_file(path, cls.model_fields) if path else {}
        return init_settings, InitSettingsSource(settings_cls, variables), InitSettingsSource(settings_cls, file)
