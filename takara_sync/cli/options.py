"""From argv, the environment and a file to Settings; each mistake named with where it was made."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NoReturn, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from takara_sync import __version__
from takara_sync.cli.settings import Settings
from takara_sync.cli.sources import flag_of, source_of
from takara_sync.errors import ConfigurationError
from takara_sync.text import one_line

COMMANDS = {
    "once": "one pass over every Takara",
    "plan": "what a pass would do, and who made it necessary; writes nothing",
    "check": "whether the server, the API and the rights are what a pass needs",
    "manifests": "what installs takara-sync, for kubectl apply --server-side -f -",
    "demo": "shows all of it on an embedded cluster; needs nothing",
}
LOOP = "loop"  # not typed: an interval without a command means the loop

_EPILOG = """\
A pass lists everything, brings each Deployment back to its Takara, writes the
statuses that differ, and ends. Each option is also a variable
(TAKARA_SYNC_MAX_SIZE) and a key of the --config file (max-size).

exit codes: 0 converged, 1 a Takara failed or changes are pending, 2 usage,
3 cluster unreadable, 4 cut short, 5 too many changes, 6 blocked or invalid
Takaras need a person, 70 a bug in takara-sync
"""


_COMPLAINT_MAX = 400  # characters of a message of argparse; the hint comes behind it
_VALUE_MAX = 200  # characters of a value in a message


class _Parser(argparse.ArgumentParser):
    """argparse, whose messages become a ConfigurationError."""

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
    kinds = (field.annotation, *get_args(field.annotation))
    choices = next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), None)
    return "{" + ",".join(choices) + "}" if choices else str(_extra(field)["metavar"])


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


def load(argv: Sequence[str], prog: str = "takara-sync") -> tuple[str, Settings]:
    """The command and its settings; "" where there is nothing to do.

    Raises:
        ConfigurationError: an unknown or unusable flag, variable, key or value, with its source.
        SystemExit: --help, --version.
    """
    flags = vars(parser(prog).parse_intermixed_args(list(argv)))
    command = flags.pop("command", None)
    if command not in (None, *COMMANDS):
        raise ConfigurationError(f"{command!r} is not a command; there are: {', '.join(COMMANDS)}")
    try:
        # The demo needs nothing, so nothing in the environment may stop it.
        settings = Settings.model_construct(**flags) if command == "demo" else Settings(**flags)
    except ValidationError as error:
        raise ConfigurationError(_first(error, flags)) from error
    command = command or (LOOP if settings.interval else "")
    _must_be_used(flags, command)
    return command, settings


def _must_be_used(flags: Iterable[str], command: str) -> None:
    """A flag that the command does not use is a mistake; variables and the file serve several commands."""
    for field in flags:
        used_by = _extra(Settings.model_fields[field])["commands"]
        if command and command not in used_by:
            raise ConfigurationError(f"{flag_of(field)} is not used by {command}; it belongs to: {', '.join(used_by)}")


def _first(error: ValidationError, flags: Mapping[str, Any]) -> str:
    """The first mistake, with its source."""
    problem = error.errors(include_url=False)[0]
    text = one_line(problem["msg"].removeprefix("Value error, "))[:_VALUE_MAX]
    if not problem["loc"]:
        return text
    field = str(problem["loc"][0])
    source = source_of(field, flags, Settings.model_fields)
    secret = _extra(Settings.model_fields[field])["secret"]
    return f"{source} cannot be {'used' if secret else _shown(problem['input'])}: {text}"


def _shown(value: Any) -> str:
    """A value as its author knows it; never one that may hold a secret, and no tree, which may be endless."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ", ".join(value)
    if not isinstance(value, str | int | float | None):
        return f"a {type(value).__name__}"
    if "://" in str(value):
        return "a text with a URL in it"  # where a line lacks its end, the URL of the next line is in its value
    text = repr(value)
    return text if len(text) <= _VALUE_MAX else f"{text[:_VALUE_MAX]}..."
