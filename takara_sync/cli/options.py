"""From argv, the environment and a file to Settings; each mistake named with where it was made."""

from __future__ import annotations

import argparse
import os
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NoReturn, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource

from takara_sync import __version__
from takara_sync.cli.settings import Settings
from takara_sync.cli.sources import Given, flag_of
from takara_sync.errors import ConfigurationError
from takara_sync.reasons import one_line

COMMANDS = {
    "once": "one pass over every Takara",
    "plan": "what a pass would do, and who made it necessary; writes nothing",
    "check": "whether the server, the API and the rights are what a pass needs",
    "manifests": "what installs takara-sync, for kubectl apply --server-side -f -",
    "demo": "the whole story on an embedded cluster; needs nothing",
}
_OFFLINE = ("demo",)  # what the user's environment says of a cluster is not for these
LOOP = "loop"  # no word on the command line: it is what runs where an interval is configured

_EPILOG = """\
A pass lists everything, brings each Deployment back to its Takara, writes the
statuses that differ, and ends. Each option is also a variable
(TAKARA_SYNC_MAX_SIZE) and a key of the --config file (max-size).

exit codes: 0 converged, 1 a Takara failed or changes are pending, 2 usage,
3 cluster unreadable, 4 cut short, 5 too many changes, 6 blocked or invalid
Takaras need a person, 70 a bug in takara-sync
"""


_COMPLAINT_MAX = 400  # characters; what comes behind says what to do next
_SHOWN = 200
_LOOKED_AT = 100_000


class _Parser(argparse.ArgumentParser):
    """argparse, with its complaints told where ours are."""

    def error(self, message: str) -> NoReturn:
        shown = message if len(message) <= _COMPLAINT_MAX else f"{message[:_COMPLAINT_MAX]}..."
        raise ConfigurationError(shown[:1].upper() + shown[1:])


def parser(prog: str = "takara-sync") -> argparse.ArgumentParser:
    """The command line, made from the model."""
    root = _Parser(
        prog,
        usage=f"{prog} [COMMAND] [OPTIONS]",
        description="Keeps every Takara's Deployment at its declared size, in single passes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    root.add_argument("--version", action="version", version=f"takara-sync {__version__}")
    lines = "; ".join(f"{name}: {what}" for name, what in COMMANDS.items())
    root.add_argument("command", nargs="?", metavar="COMMAND", help=f"{lines}; none: the loop, with --interval")
    groups: dict[str, Any] = {}
    for name, field in Settings.model_fields.items():
        extra = _extra(field)
        group = groups.setdefault(extra["group"], root.add_argument_group(extra["group"]))
        _add(group, name, field, extra)
    return root


def _extra(field: FieldInfo) -> dict[str, Any]:
    extra = field.json_schema_extra
    assert isinstance(extra, dict)
    return extra


def _add(group: Any, name: str, field: FieldInfo, extra: dict[str, Any]) -> None:
    flags = [extra["short"], flag_of(name)] if extra["short"] else [flag_of(name)]
    text = f"{field.description}{default_text(field)}".replace("%", "%%")
    if field.annotation is bool:
        group.add_argument(*flags, action=argparse.BooleanOptionalAction, help=text)
    elif get_origin(field.annotation) is tuple:
        group.add_argument(*flags, action="append", metavar=extra["metavar"], help=text)
    else:
        group.add_argument(*flags, metavar=metavar_of(field), help=text)


def metavar_of(field: FieldInfo) -> str:
    """What stands for the value in a help text: the choices, or a word."""
    metavar: str = _choices(field) or _extra(field)["metavar"]
    return metavar


def _choices(field: FieldInfo) -> str:
    kinds = getattr(field.annotation, "__args__", ())
    literal = (
        field.annotation
        if get_origin(field.annotation) is Literal
        else next((kind for kind in kinds if get_origin(kind) is Literal), None)
    )
    return "{" + ",".join(literal.__args__) + "}" if literal is not None else ""


def default_text(field: FieldInfo) -> str:
    """` (default: 10)`, or nothing where that says nothing."""
    default = field.default
    if default is None or default is False or default == ():
        return ""
    shown = (
        ", ".join(default) if isinstance(default, tuple) else f"{default:g}" if isinstance(default, float) else default
    )
    return f" (default: {shown})"


# ------------------------------------------------------------------ loading


def load(
    argv: Sequence[str], environ: Mapping[str, str] | None = None, prog: str = "takara-sync"
) -> tuple[str, Settings]:
    """The command and its settings.

    Raises:
        ConfigurationError: an unknown or unusable flag or value, with its source.
        SystemExit: --help, --version.
    """
    environ = os.environ if environ is None else environ
    flags = vars(parser(prog).parse_intermixed_args(list(argv)))
    command = flags.pop("command", None)
    if command is not None and command not in COMMANDS:
        raise ConfigurationError(f"{command!r} is no command; there are: {', '.join(COMMANDS)}")
    given = Given(flags, {} if command in _OFFLINE else environ)
    values = given.file | {f: environ[n] for f, n in given.variables.items()} | given.flags
    try:
        settings = _with_sources(given, environ)
    except ValidationError as error:
        raise ConfigurationError(_first(error, given, values)) from error
    command = command or (LOOP if settings.interval else "")
    _only_used(command, given)
    return command, settings


def _with_sources(given: Given, environ: Mapping[str, str]) -> Settings:
    variables = {field: environ[name] for field, name in given.variables.items()}

    class Loaded(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - replaced: it ignores what is misspelt
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - a .env file is nobody's wish here
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - nor is a folder of secrets
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            lower = (InitSettingsSource(settings_cls, values) for values in (variables, given.file))
            return init_settings, *lower

    return Loaded(**given.flags)


def _first(error: ValidationError, given: Given, values: Mapping[str, Any]) -> str:
    problem = error.errors(include_url=False)[0]
    text = str(problem["msg"]).removeprefix("Value error, ")
    if not problem["loc"]:
        return text
    field = str(problem["loc"][0])
    if _extra(Settings.model_fields[field])["secret"]:
        return f"{given.source_of(field)} cannot be used: {text}"
    return f"{given.source_of(field)} cannot be {_shown(values.get(field))}: {one_line(text)[:_SHOWN]}"


def _shown(value: Any) -> str:
    """A value as its author knows it, whatever its size: one that is a tree is shown to some depth only."""
    if "://" in str(value)[:_LOOKED_AT]:
        return "a text with a URL in it"  # which may be the secret of the line before, whose end is missing
    plain = ", ".join(map(str, value)) if isinstance(value, list) and all(map(_is_plain, value)) else value
    text = repr(plain) if _is_plain(plain) else reprlib.repr(plain)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _only_used(command: str, given: Given) -> None:
    """A flag that the command does not use is a mistake; variables and the file serve several commands."""
    for field in given.flags:
        used_by = _extra(Settings.model_fields[field])["commands"]
        if command and command not in used_by:
            raise ConfigurationError(f"{flag_of(field)} is not used by {command}; it belongs to: {', '.join(used_by)}")
