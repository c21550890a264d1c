"""Every option is one field of one model.

The field `max_size` is the flag `--max-size`, the variable `TAKARA_SYNC_MAX_SIZE` and the key `max-size` of the file.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    HttpUrl,
    Secret,
    StringConstraints,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from takara_sync import __version__
from takara_sync.cli.sources import given
from takara_sync.managed_fields import LEGACY_MANAGERS

_PASSES = ("once", "loop")
_DECIDING = (*_PASSES, "plan")
_ADOPT = ("adopt",)
_POLICY = (*_DECIDING, *_ADOPT)
_CONNECTED = (*_DECIDING, "check", *_ADOPT)
_INSTALL = ("manifests",)
_LONGEST = 366 * 86400.0  # seconds; larger durations are typos, and above 292 years threading raises OverflowError
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
    """`a, b` as a tuple, also as an element of a list."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        return value  # pydantic rejects it
    parts = [part.strip() for text in texts for part in text.split(",")]
    if "" in parts or not parts:
        raise ValueError("an empty name in the list")
    return tuple(dict.fromkeys(parts))


def _number(value: Any) -> Any:
    """Rejects YAML's `yes`: pydantic would convert True to 1."""
    if isinstance(value, bool):
        raise ValueError("expected a number")  # noqa: TRY004 - pydantic reports ValueErrors
    return value


def _matching(pattern: str, expected: str) -> AfterValidator:
    """Rejects a text that does not match. expected: for the message."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(check)


Number = Annotated[int, BeforeValidator(_number)]
Seconds = Annotated[
    float, BeforeValidator(_seconds), BeforeValidator(_number), Field(gt=0, le=_LONGEST, allow_inf_nan=False)
]
Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
Consent = Annotated[Annotated[int, Field(ge=0)] | Literal["any"], BeforeValidator(_number)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Namespace = Annotated[Text, _matching(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", "the name of a namespace")]
Namespaces = Annotated[tuple[Namespace, ...], BeforeValidator(_split)]
Image = Annotated[
    Text,
    _matching(r"[^\s-]\S*", "the name of an image, such as takara-sync:1.0 or registry/takara-sync@sha256:..."),
]
Schedule = Annotated[  # without a time zone: Kubernetes also rejects TZ=
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
    **special: bool | str,
) -> Any:
    """special: any of `secret`; `bare`, the value of the flag without a value; `positional`, an argument of a command
    without a flag, a variable or a key."""
    extra: dict[str, Any] = {"group": group, "metavar": metavar, "short": short, "commands": list(commands)}
    return Field(
        default,
        description=help_text,
        json_schema_extra=extra | {"secret": False, "bare": "", "positional": False} | special,
    )


class Settings(BaseSettings):
    """The options of takara-sync. Times are in seconds."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, validate_default=False)

    names: tuple[str, ...] = _option("Adopt", "the Takaras", (), "NAME", commands=_ADOPT, positional=True)

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
    selector: Text | None = _option(
        "Scope", "only Takaras that match this label selector", None, "SELECTOR", short="-l", commands=_POLICY
    )

    dry_run: bool = _option("Safety", "decide and report, write nothing", False, commands=_PASSES)
    max_size: Annotated[Number, Field(ge=0, lt=2**31)] = _option(
        "Safety", "a Takara with a larger size is invalid", 1000, "N", commands=_POLICY
    )
    max_changes: Annotated[Number, Field(ge=0)] | None = _option(
        "Safety", "change no Deployment when a pass would change more than this; default: no limit", None, "N"
    )
    allow_templates: bool = _option("Safety", "use spec.template", False, commands=(*_POLICY, *_INSTALL))
    legacy_manager: Names = _option(
        "Safety", "take over the fields of this field manager (repeats)", LEGACY_MANAGERS, "NAME", commands=_POLICY
    )
    accept_newer_format: bool = _option(
        "Safety", "apply over what a newer takara-sync applied", False, commands=_POLICY
    )

    server: bool = _option(
        "Plan", "send each change to the server as a dry run, and print its answer", False, commands=("plan",)
    )

    restored: bool = _option(
        "Adopt", "every Deployment that only lacks its controller, as after a restore", False, commands=_ADOPT
    )
    yes: Consent | None = _option(
        "Adopt",
        "do not ask; --yes=COUNT: only if exactly so many Deployments are to be adopted",
        None,
        "COUNT",
        commands=_ADOPT,
        bare="any",
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
        "repeat the pass until every Takara is Ready or a person has to act, for at most this long",
        None,
        "SECONDS",
        commands=("once",),
    )
    interval: Seconds | None = _option(
        "Passes", "run a pass each time this interval is over, until SIGTERM", None, "SECONDS", commands=("loop",)
    )
    duration: Seconds | None = _option(
        "Passes",
        "end the loop after this time; start no pass that would exceed it",
        None,
        "SECONDS",
        commands=("loop",),
    )

    output: Literal["text", "wide", "json"] = _option(
        "Output", "the form of the report on stdout", "text", "FORMAT", short="-o", commands=_CONNECTED
    )
    tolerate: Annotated[tuple[Literal["blocked", "invalid"], ...], BeforeValidator(_split)] = _option(
        "Output", "blocked, invalid: exit 0 although a person has to act", (), "WHAT"
    )
    heartbeat_url: Secret[HttpUrl] | None = _option(
        "Output", "a dead-man's switch: URL/start, then URL or URL/fail", None, "URL", commands=_PASSES, secret=True
    )
    log_format: Literal["text", "json"] | None = _option(
        "Output", "the log on stderr; default: text on a terminal, else json", None, "FORMAT", commands=_CONNECTED
    )
    log_level: Literal["debug", "info", "warning", "error"] | None = _option(
        "Output", "default: info in a loop or off a terminal, else warning", None, "LEVEL", commands=_CONNECTED
    )

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The flags, which are arguments, then our variables, then the config file.

        The sources of pydantic-settings ignore a misspelt variable, and cannot say where a value comes from.
        """
        found = given(init_settings(), option_fields())
        return (InitSettingsSource(settings_cls, {field: value for field, (value, _) in found.items()}),)

    @model_validator(mode="after")
    def _fits_together(self) -> Settings:
        timeouts = f"request-timeout ({self.request_timeout:g} s) exceeds pass-timeout ({self.pass_timeout:g} s)"
        rules = (
            ("request_timeout" in self.model_fields_set and self.request_timeout > self.pass_timeout, timeouts),
            (self.duration and not self.interval, "duration needs an interval"),
            (self.duration and self.interval and self.duration < self.interval, "duration is shorter than interval"),
            (self.schedule and self.mode == "loop", "schedule cannot be used with mode loop"),
            (self.wait and self.dry_run, "wait cannot be used with dry-run"),
        )
        for broken, message in rules:
            if broken:
                raise ValueError(message)
        return self


def option_fields() -> dict[str, FieldInfo]:
    """The fields with a flag, a variable and a key."""
    return {name: field for name, field in Settings.model_fields.items() if not about(field)["positional"]}


def about(field: FieldInfo) -> dict[str, Any]:
    """The group, metavar, short flag and commands of an option."""
    assert isinstance(field.json_schema_extra, dict)
    return field.json_schema_extra
