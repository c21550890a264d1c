"""The command line and its help, made from the settings model; and the settings of a command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NoReturn, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from takara_sync import __version__
from takara_sync.cli.settings import Settings, about, option_fields
from takara_sync.cli.sources import Given, flag_of, given
from takara_sync.errors import ConfigurationError
from takara_sync.text import one_line

COMMANDS = {
    "once": "one pass over every Takara",
    "plan": "what a pass would change, and which manager caused it; writes nothing",
    "check": "the server, the API, and each right that a pass needs",
    "adopt": "makes each Takara NAME the controller of the Deployment that exists already; shows all of it first",
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

_VALUE_MAX = 200  # characters of a value in a message


class _Parser(argparse.ArgumentParser):
    """argparse, with a ConfigurationError instead of an exit."""

    def error(self, message: str) -> NoReturn:
        raise ConfigurationError(message[:1].upper() + message[1:])


def parser(prog: str = "takara-sync") -> argparse.ArgumentParser:
    """The command line."""
    root = _Parser(
        prog,
        usage=f"{prog} [COMMAND] [NAME...] [OPTIONS]",
        description="Keeps every Takara's Deployment at its declared size, in single passes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    lines = "; ".join(f"{name}: {what}" for name, what in COMMANDS.items())
    text = f"{lines}; none: the loop, with --interval"
    root.add_argument("command", nargs="?", metavar="COMMAND", help=text)
    root.add_argument("names", nargs="*", metavar="NAME", help="of adopt: a Takara")
    root.add_argument("--version", action="version", version=f"takara-sync {__version__}")
    groups: dict[str, Any] = {}
    for name, field in option_fields().items():
        title = about(field)["group"]
        if title not in groups:
            groups[title] = root.add_argument_group(title)
        _add(groups[title], name, field)
    return root


def _add(group: Any, name: str, field: FieldInfo) -> None:
    flags = [flag for flag in (about(field)["short"], flag_of(name)) if flag]
    text = f"{field.description}{default_text(field)}".replace("%", "%%")
    if field.annotation is bool:
        group.add_argument(*flags, action=argparse.BooleanOptionalAction, help=text)
    else:
        action = "append" if get_origin(field.annotation) is tuple else "store"
        nargs = "?" if about(field)["bare"] else None
        group.add_argument(*flags, action=action, nargs=nargs, metavar=metavar_of(field), help=text)


def metavar_of(field: FieldInfo) -> str:
    """What stands for the value in a help text: the choices, or a word."""
    kinds = (field.annotation, *get_args(field.annotation))
    choices = next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), None)
    return "{" + ",".join(choices) + "}" if choices else str(about(field)["metavar"])


def default_text(field: FieldInfo) -> str:
    """` (default: 10)`; empty for a default that means nothing."""
    default = field.default
    if default is None or default is False or default == ():
        return ""
    shown = f"{default:g}" if isinstance(default, float) else default
    return f" (default: {', '.join(shown) if isinstance(shown, tuple) else shown})"


# ------------------------------------------------------------------ the settings of a command line


_BARE = {
    flag_of(name): f"{flag_of(name)}={about(field)['bare']}"
    for name, field in option_fields().items()
    if about(field)["bare"]
}
"""Each flag that needs no value, with the value that it then has: argparse would take the next argument for it."""


def load(argv: Sequence[str], prog: str = "takara-sync") -> tuple[str, Settings]:
    """The command and its settings; "" if there is neither a command nor an interval.

    Raises:
        ConfigurationError: an unknown flag, variable, key or value; the message names its source.
        SystemExit: --help, --version.
    """
    flags = vars(parser(prog).parse_intermixed_args([_BARE.get(each, each) for each in argv]))
    command = flags.pop("command", "")
    if command and command not in COMMANDS:
        raise ConfigurationError(f"{command!r} is not a command; there are: {', '.join(COMMANDS)}")
    try:  # the demo needs nothing, so it reads neither variables nor a file
        settings = Settings.model_construct(**flags) if command == "demo" else Settings(**flags)
    except ValidationError as error:
        raise ConfigurationError(_first(error, given(flags, option_fields()))) from error
    command = command or (LOOP if settings.interval else "")
    _must_be_used(flags, command)
    return command, settings


def _must_be_used(flags: Iterable[str], command: str) -> None:
    """A flag that the command does not use is an error. Variables and the file may serve several commands."""
    for field in flags:
        used_by = about(Settings.model_fields[field])["commands"]
        if command and command not in used_by:
            what = (
                f"A name is not used by {command}" if field == "names" else f"{flag_of(field)} is not used by {command}"
            )
            raise ConfigurationError(f"{what}; it belongs to: {', '.join(used_by)}")


def _first(error: ValidationError, sources: Mapping[str, Given]) -> str:
    """The first mistake, with its source."""
    problem = error.errors(include_url=False)[0]
    text = one_line(problem["msg"].removeprefix("Value error, "))[:_VALUE_MAX]
    if not problem["loc"]:
        return text
    field = str(problem["loc"][0])
    shown = "used" if about(Settings.model_fields[field])["secret"] else _shown(problem["input"])
    return f"{sources[field].source} cannot be {shown}: {text}"


def _shown(value: Any) -> str:
    """A value for a message; of a tree, which may be without an end, only its type."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ", ".join(value)
    if not isinstance(value, str | int | float | None):
        return f"a {type(value).__name__}"
    if "://" in str(value):
        return "a text with a URL in it"  # if a quote is missing in the file, the value contains the next line
    text = repr(value)
    return text if len(text) <= _VALUE_MAX else f"{text[:_VALUE_MAX]}..."
