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
    WithJsonSchema,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from takara_sync import __version__
from takara_sync.cli.sources import given
from takara_sync.managed_fields import LEGACY_MANAGERS
from takara_sync.objects import NAME

_PASSES = ("once", "loop")
_DECIDING = (*_PASSES, "plan")
_ADOPT = ("adopt",)
_CONNECTED = (*_DECIDING, "check", "status", *_ADOPT)
_INSTALL = ("manifests",)
_INSTALLED = (*_DECIDING, *_INSTALL)
"""`manifests` puts such an option into the arguments of the installed copy."""
_LONGEST = 366 * 86400.0  # seconds; larger durations are typos, and above 292 years threading raises OverflowError
_PORT_MAX = 65535
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


def _changes(value: Any) -> Any:
    """`20` as a number; `10%` stays a text."""
    number = _number(value)
    return int(number) if isinstance(number, str) and re.fullmatch(r"[0-9]{1,10}", number.strip()) else number


def _address(value: Any) -> Any:
    """`:9090`, `9090` and `HOST:9090` as HOST:PORT. Without a host only programs on this machine can connect."""
    text = str(value) if type(value) is int else value  # a bare port in YAML
    if not isinstance(text, str):
        return value  # pydantic rejects it
    match = re.fullmatch(r"(?:(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+)?:)?(\d{1,5})", text.strip())
    if match is None or int(match[2]) > _PORT_MAX:
        raise ValueError("expected an address such as 9090, 0.0.0.0:9090 or [::1]:9090")
    return f"{match[1] or '127.0.0.1'}:{match[2]}"


def _matching(pattern: str, expected: str) -> AfterValidator:
    """Rejects a text that does not match. expected: for the message."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(check)


def _text_schema(pattern: str) -> WithJsonSchema:
    """The pattern for the JSON schema of the Helm chart's values."""
    return WithJsonSchema({"type": "string", "pattern": f"^({pattern})$"})


Number = Annotated[int, BeforeValidator(_number)]
Seconds = Annotated[
    float, BeforeValidator(_seconds), BeforeValidator(_number), Field(gt=0, le=_LONGEST, allow_inf_nan=False)
]
Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
Consent = Annotated[Annotated[int, Field(ge=0)] | Literal["any"], BeforeValidator(_number)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_NAMESPACE = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_NAME = r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?"
_PREFIX = r"[a-z0-9][-a-z0-9]{0,39}"  # the name of a CronJob has at most 52 characters
_IMAGE = r"[^\s'-][^\s']*"
_QUANTITY = r"[0-9]+(\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?"
_CRON = r"@[a-z]+|[-*,/?0-9A-Za-z]+( +[-*,/?0-9A-Za-z]+){4}"
_ADDED = r"[A-Za-z0-9._/*\[\]-]+"
Namespace = Annotated[Text, _matching(_NAMESPACE, "the name of a namespace"), _text_schema(_NAMESPACE)]
Namespaces = Annotated[tuple[Namespace, ...], BeforeValidator(_split)]
TakaraName = Annotated[
    Text, _matching(rf"({_NAMESPACE}/)?{NAME.pattern}", "the name of a Takara, such as web or default/web")
]
ObjectName = Annotated[Text, _matching(_NAME, "the name of an object"), _text_schema(_NAME)]
ObjectKey = Annotated[Text, _matching(f"{_NAMESPACE}/{_NAME}", "the name of an object, as NAMESPACE/NAME")]
ObjectNames = Annotated[tuple[ObjectName, ...], BeforeValidator(_split)]
Prefix = Annotated[
    Text, _matching(_PREFIX, "at most 40 letters, digits and dashes, such as prod-"), _text_schema(_PREFIX)
]
Address = Annotated[Text, BeforeValidator(_address)]
Image = Annotated[
    Text,
    _matching(_IMAGE, "the name of an image, such as takara-sync:1.0 or registry/takara-sync@sha256:..."),
    _text_schema(_IMAGE),
]
PullPolicy = Literal["IfNotPresent", "Always", "Never"]
Quantity = Annotated[Text, _matching(_QUANTITY, "a quantity, such as 100m or 64Mi"), _text_schema(_QUANTITY)]
Schedule = Annotated[  # without a time zone: Kubernetes also rejects TZ=
    Text,
    _matching(_CRON, "five fields, such as '*/5 * * * *', or @hourly"),
    _text_schema(_CRON),
]
Fields = Annotated[
    tuple[Annotated[Text, _matching(_ADDED, "a field as the refusal names it"), _text_schema(_ADDED)], ...],
    BeforeValidator(_split),
]
Percentage = Annotated[
    Text, _matching(r"(100|[0-9]{1,2})%", "a number, or a percentage such as 10%"), _text_schema("(100|[0-9]{1,2})%")
]
Changes = Annotated[Annotated[int, Field(ge=0, strict=True)] | Percentage, BeforeValidator(_changes)]


def _option(  # noqa: PLR0913 - one argument for each thing that a field says
    group: str,
    help_text: str,
    default: Any,
    metavar: str = "",
    *,
    short: str = "",
    commands: tuple[str, ...] = _DECIDING,
    secret: bool = False,
    words: bool = False,
    bare: str = "",
) -> Any:
    """A field of Settings. words: on the command line these are words after the command, without a flag. bare: the
    value of the flag without a value."""
    return Field(
        default,
        description=help_text,
        json_schema_extra={
            "group": group,
            "metavar": metavar,
            "short": short,
            "commands": list(commands),
            "secret": secret,
            "words": words,
            "bare": bare,
        },
    )


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
        "Cluster", "how long one try of a request may take", 10.0, "SECONDS", commands=(*_CONNECTED, *_INSTALL)
    )
    pass_timeout: Seconds = _option(
        "Cluster", "how long a pass may take", 50.0, "SECONDS", commands=(*_CONNECTED, *_INSTALL)
    )
    concurrency: Annotated[Number, Field(ge=1, le=256)] = _option(
        "Cluster", "requests in flight at once", 16, "N", commands=(*_CONNECTED, *_INSTALL)
    )

    namespace: Namespaces = _option(
        "Scope", "only this namespace (repeats); default: all", (), "NAME", short="-n", commands=_CONNECTED
    )
    exclude_namespace: Namespaces = _option(
        "Scope", "every namespace but this one (repeats)", (), "NAME", commands=_INSTALLED
    )
    name: Annotated[tuple[TakaraName, ...], BeforeValidator(_split)] = _option(
        "Scope",
        "only these Takaras: NAME or NAMESPACE/NAME (repeats); default: all",
        (),
        "NAME",
        commands=(*_DECIDING, *_ADOPT, "status"),
        words=True,
    )
    selector: Text | None = _option(
        "Scope",
        "only Takaras that match this label selector",
        None,
        "SELECTOR",
        short="-l",
        commands=(*_INSTALLED, *_ADOPT, "status"),
    )

    dry_run: bool = _option("Safety", "decide and report, write nothing", False, commands=(*_PASSES, *_INSTALL))
    max_size: Annotated[Number, Field(ge=0, lt=2**31)] = _option(
        "Safety", "a Takara with a larger size is invalid", 1000, "N", commands=(*_INSTALLED, *_ADOPT)
    )
    max_changes: Changes | None = _option(
        "Safety",
        "change no Deployment when a pass would change more than this number, or 10% of the Takaras; default: no limit",
        None,
        "N",
        commands=_INSTALLED,
    )
    allow_templates: bool = _option("Safety", "use spec.template", False, commands=(*_CONNECTED, *_INSTALL))
    legacy_manager: Names = _option(
        "Safety",
        "take over the fields of this field manager (repeats)",
        LEGACY_MANAGERS,
        "NAME",
        commands=(*_INSTALLED, *_ADOPT),
    )
    accept_newer_format: bool = _option(
        "Safety", "apply over what a newer takara-sync applied", False, commands=(*_INSTALLED, *_ADOPT)
    )

    pod_image: Image | None = _option(
        "Default pod",
        "its image, such as that of a mirror; default: busybox",
        None,
        "IMAGE",
        commands=(*_CONNECTED, *_INSTALL),
    )
    pod_pull_policy: PullPolicy | None = _option(
        "Default pod",
        "when its image is pulled; default: as Kubernetes has it",
        None,
        "WHEN",
        commands=(*_CONNECTED, *_INSTALL),
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
    image_pull_policy: PullPolicy = _option(
        "Install", "when the image of takara-sync is pulled", "IfNotPresent", "WHEN", commands=_INSTALL
    )
    image_pull_secret: ObjectNames = _option(
        "Install", "the Secret of the image's registry (repeats)", (), "NAME", commands=_INSTALL
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
    name_prefix: Prefix | None = _option(
        "Install", "before the name of each object, so that two installs are two", None, "PREFIX", commands=_INSTALL
    )
    heartbeat_secret: ObjectName | None = _option(
        "Install", "the Secret whose key heartbeat-url has the heartbeat URL", None, "NAME", commands=_INSTALL
    )
    cpu_request: Quantity = _option("Install", "the CPU that is reserved", "25m", "QUANTITY", commands=_INSTALL)
    memory_request: Quantity = _option("Install", "the memory that is reserved", "64Mi", "QUANTITY", commands=_INSTALL)
    cpu_limit: Quantity | None = _option(
        "Install",
        "the most CPU; a quota on limits.cpu demands it; default: no limit",
        None,
        "QUANTITY",
        commands=_INSTALL,
    )
    memory_limit: Quantity = _option("Install", "the most memory", "512Mi", "QUANTITY", commands=_INSTALL)
    uid_from_cluster: bool = _option(
        "Install", "leave uid and group to the cluster, as OpenShift wants it", False, commands=_INSTALL
    )
    network_policy: bool = _option(
        "Install", "a NetworkPolicy: only the ports of an API server, and DNS", False, commands=_INSTALL
    )
    priority_level: bool = _option("Install", "a priority level of its own at the API server", False, commands=_INSTALL)
    may_be_added: Fields = _option(
        "Install",
        "a field that webhooks here add to Deployments, as a refusal names it (repeats)",
        (),
        "FIELD",
        commands=_INSTALL,
    )
    skip_crd: bool = _option("Install", "leave the CRD out: another install has it", False, commands=_INSTALL)
    replaces: Text | None = _option(
        "Install",
        "print what to delete of an install with these options that this one replaces",
        None,
        "OPTIONS",
        commands=_INSTALL,
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
        "Passes",
        "run a pass each time this interval is over, until SIGTERM",
        None,
        "SECONDS",
        commands=("loop", *_INSTALL),
    )
    duration: Seconds | None = _option(
        "Passes",
        "end the loop after this time; start no pass that would exceed it",
        None,
        "SECONDS",
        commands=("loop",),
    )

    output: Literal["text", "wide", "json", "json-brief"] = _option(
        "Output",
        "the form of the report on stdout; json-brief is JSON without the Takaras that are unchanged and Ready",
        "text",
        "FORMAT",
        short="-o",
        commands=_CONNECTED,
    )
    tolerate: Annotated[tuple[Literal["blocked", "invalid", "nothing"], ...], BeforeValidator(_split)] = _option(
        "Output",
        "blocked, invalid: exit 0 although a person has to act; an installed copy tolerates both, or nothing",
        (),
        "WHAT",
        commands=_INSTALLED,
    )
    fail_on: Annotated[tuple[Literal["not-ready"], ...], BeforeValidator(_split)] = _option(
        "Output",
        "not-ready: exit 4 if a Takara is not Ready, and nothing else is wrong",
        (),
        "WHAT",
        commands=(*_PASSES, *_INSTALL),
    )
    heartbeat_url: Secret[HttpUrl] | None = _option(
        "Output", "a dead-man's switch: URL/start, then URL or URL/fail", None, "URL", commands=_PASSES, secret=True
    )
    last_pass: ObjectKey | None = _option(
        "Output",
        "an installed copy: record its last pass in this ConfigMap, NAMESPACE/NAME",
        None,
        "CONFIGMAP",
        commands=(*_PASSES, "check"),
    )
    termination_message_path: Text | None = _option(
        "Output",
        "write why the process ended to this file, as JSON; default: /dev/termination-log, if there is one",
        None,
        "FILE",
        commands=_PASSES,
    )
    log_format: Literal["text", "json"] | None = _option(
        "Output", "the log on stderr; default: text on a terminal, else json", None, "FORMAT", commands=_CONNECTED
    )
    log_level: Literal["debug", "info", "warning", "error"] | None = _option(
        "Output",
        "default: info in a loop or off a terminal, else warning",
        None,
        "LEVEL",
        commands=(*_CONNECTED, *_INSTALL),
    )

    metrics_textfile: Text | None = _option(
        "Metrics",
        "replace this file after each pass, for the textfile collector of node exporter (*.prom)",
        None,
        "FILE",
        commands=_PASSES,
    )
    metrics_push_url: Secret[HttpUrl] | None = _option(
        "Metrics",
        "push to this Pushgateway after each pass; URL/metrics/job/NAME... sets the group",
        None,
        "URL",
        commands=_PASSES,
        secret=True,
    )
    metrics_address: Address | None = _option(
        "Metrics",
        "serve /metrics at [HOST]:PORT; without a host only on the loopback interface",
        None,
        "ADDRESS",
        commands=("loop", *_INSTALL),
    )

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The flags, which are arguments, then our variables, then the config file.

        The sources of pydantic-settings ignore a misspelt variable, and cannot say where a value comes from.
        """
        found = given(init_settings(), cls.model_fields)
        return (InitSettingsSource(settings_cls, {field: value for field, (value, _) in found.items()}),)

    @model_validator(mode="after")
    def _fits_together(self) -> Settings:
        metrics = self.metrics_textfile or self.metrics_push_url or self.metrics_address
        timeouts = f"request-timeout ({self.request_timeout:g} s) exceeds pass-timeout ({self.pass_timeout:g} s)"
        rules = (
            ("request_timeout" in self.model_fields_set and self.request_timeout > self.pass_timeout, timeouts),
            (self.duration and not self.interval, "duration needs an interval"),
            (self.duration and self.interval and self.duration < self.interval, "duration is shorter than interval"),
            (self.namespace and self.exclude_namespace, "exclude-namespace cannot be used with namespace"),
            (self.watch_namespace and self.exclude_namespace, "exclude-namespace cannot be used with watch-namespace"),
            (self.schedule and self.mode == "loop", "schedule cannot be used with mode loop"),
            (self.interval and self.mode == "once", "interval cannot be used with mode once"),
            (self.metrics_address and self.mode == "once", "metrics-address cannot be used with mode once"),
            (self.wait and self.dry_run, "wait cannot be used with dry-run"),
            (self.dry_run and metrics, "metrics cannot be used with dry-run: they would count what it does not change"),
            (self.name and metrics, "metrics cannot be used with the name of a Takara: they are about all of them"),
        )
        for broken, message in rules:
            if broken:
                raise ValueError(message)
        return self


def about(field: FieldInfo) -> dict[str, Any]:
    """The group, metavar, short flag and commands of an option."""
    assert isinstance(field.json_schema_extra, dict)
    return field.json_schema_extra
