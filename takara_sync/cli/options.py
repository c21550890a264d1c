"""The command line and its help, made from the settings model; and the settings of a command line."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NoReturn, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from takara_sync import __version__
from takara_sync.cli.settings import Settings, about
from takara_sync.cli.sources import Given, close_match, flag_of, given
from takara_sync.errors import ConfigurationError
from takara_sync.text import one_line, shortened

COMMANDS = {
    "once": "one pass over every Takara, or over the named ones",
    "plan": "what a pass would change, and which manager caused it; writes nothing",
    "check": "the server, the API, and each right that a pass needs",
    "status": "the installed copy, the Takaras by state, rights; or one Takara: NAME",
    "adopt": "makes each Takara NAME the controller of the Deployment that exists already; shows all of it first",
    "manifests": "what installs takara-sync, for kubectl apply --server-side -f -",
    "demo": "shows all of it on an embedded cluster; needs nothing",
    "completion": "a script that completes commands and options: bash, zsh, fish, tcsh or powershell",
}
LOOP = "loop"  # not typed: an interval without a command means the loop
WORDS = {"once": "[NAME ...]", "plan": "[NAME ...]", "status": "[NAME]", "adopt": "[NAME ...]", "completion": "SHELL"}
"""The commands that take words after their name, and what the usage line calls them."""
_WITHOUT_SOURCES = ("demo", "completion")  # they need nothing, so they read neither variables nor a file

_ROOT = """\
Keeps every Takara's Deployment at its declared size, in single passes.

commands:
{commands}
  (none)       a pass each time --interval is over, until SIGTERM: the loop

takara-sync COMMAND --help lists the options of a command. Those of the loop:
"""
_NAMES = "\n\nNAME is a Takara: NAME, or NAMESPACE/NAME. No other Takara is written or reported."
_EPILOG = """\
Each option is also a variable (TAKARA_SYNC_MAX_SIZE) and a key of the --config
file (max-size).

exit codes: 0 converged, 1 a Takara failed or changes are pending, 2 usage,
3 cluster unreadable, 4 cut short, 5 too many changes, 6 blocked or invalid
Takaras need a person, 70 a bug in takara-sync
"""

_VALUE_MAX = 200  # characters of a value in a message


class _Parser(argparse.ArgumentParser):
    """argparse, with a ConfigurationError instead of an exit."""

    def error(self, message: str) -> NoReturn:
        raise ConfigurationError(message[:1].upper() + message[1:])


def parser(prog: str = "takara-sync", command: str = "") -> argparse.ArgumentParser:
    """What `COMMAND --help` shows: only the options that this command uses. Without a command: all commands, the loop.

    In this form a flag may stand before the command or after it.
    """
    if command:
        usage, text = f"{prog} {command} {WORDS.get(command, '')}".rstrip(), COMMANDS[command]
        text = f"{text[:1].upper()}{text[1:]}.{_NAMES if WORDS.get(command) == WORDS['once'] else ''}"
    else:
        lines = (f"  {name:<12} {what}" for name, what in COMMANDS.items())
        usage, text = f"{prog} [COMMAND]", _ROOT.format(commands="\n".join(lines))
    wide = shutil.get_terminal_size().columns - 2
    root = _Parser(
        prog,
        usage=f"{usage} [OPTIONS]",
        description="\n".join(
            textwrap.fill(line, wide, subsequent_indent=" " * 15 if line.startswith(" ") else "")
            for line in text.split("\n")
        ),
        epilog=None if command in _WITHOUT_SOURCES else _EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    if not command:
        root.add_argument("--version", action="version", version=f"takara-sync {__version__}")
    add_options(root, command or LOOP)
    return root


def add_options(root: argparse.ArgumentParser, command: str = "") -> None:
    """Add the options that this command uses, in their groups; without a command, every option."""
    groups: dict[str, Any] = {}
    for name, field in Settings.model_fields.items():
        if command in ("", *about(field)["commands"]) and not about(field)["words"]:
            title = about(field)["group"]
            if title not in groups:
                groups[title] = root.add_argument_group(title)
            _add(groups[title], name, field)


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
    choices = choices_of(field)
    return "{" + ",".join(choices) + "}" if choices else str(about(field)["metavar"])


def choices_of(field: FieldInfo) -> tuple[str, ...]:
    """The values of an option that has a closed list of them; empty if it has none."""
    kinds = (field.annotation, *get_args(field.annotation))
    return next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())


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
    for name, field in Settings.model_fields.items()
    if about(field)["bare"]
}
"""Each flag that needs no value, with the value that it then has: argparse would take the next argument for it."""


def load(argv: Sequence[str], prog: str = "takara-sync") -> tuple[str, Settings]:
    """The command and its settings; "" if there is neither a command nor an interval.

    Raises:
        ConfigurationError: an unknown flag, variable, key or value; the message names its source.
        SystemExit: --help, --version.
    """
    flags, words = _parsed(argv, prog)
    command = words[0] if words else ""
    if command and command not in COMMANDS:
        meant = close_match(command, COMMANDS) or f"; there are: {', '.join(COMMANDS)}"
        raise ConfigurationError(f"{command!r} is not a command{meant}")
    if words[1:]:
        if command not in WORDS:
            raise ConfigurationError(f"{command} takes no further words, but there is {words[1]!r}")
        flags["name"] = words[1:]
    try:
        plain = command in _WITHOUT_SOURCES
        settings = Settings.model_construct(**flags) if plain else Settings(**flags)
    except ValidationError as error:
        raise ConfigurationError(_first(error, given(flags, Settings.model_fields))) from error
    command = command or (LOOP if settings.interval else "")
    _must_be_used(flags, command)
    return command, settings


def _parsed(argv: Sequence[str], prog: str) -> tuple[dict[str, Any], list[str]]:
    """The flags, and the words between them: the command first. Prints the help, and exits, if that is asked for."""
    every = _Parser(prog, add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    every.add_argument("words", nargs="*")
    every.add_argument("-h", "--help", action="store_true")
    add_options(every)
    try:
        found, unknown = every.parse_known_intermixed_args([_BARE.get(each, each) for each in argv])
    except ConfigurationError:  # help is no matter of the flags beside it
        if not {"-h", "--help"} & set(argv):
            raise
        found, unknown = argparse.Namespace(words=[word for word in argv if word in COMMANDS][:1], help=True), []
    flags = vars(found)
    words: list[str] = flags.pop("words", [])
    if flags.pop("help", False):
        parser(prog, words[0] if words and words[0] in COMMANDS else "").print_help()
        raise SystemExit(0)
    if unknown:
        flag = unknown[0].partition("=")[0]
        own = parser(prog, words[0]) if words and words[0] in COMMANDS else every
        meant = next(filter(None, (close_match(flag, _flags(known)) for known in (own, every))), "")
        raise ConfigurationError(f"{flag} is not an option{meant}")
    return flags, words


def _flags(known: argparse.ArgumentParser) -> list[str]:
    return [flag for action in known._actions for flag in action.option_strings]


def no_command(argv: Sequence[str], prog: str) -> ConfigurationError:
    """The error for flags without a command; it suggests the first command that uses all of them."""
    flags, _ = _parsed(argv, prog)
    users = (name for name in COMMANDS if all(name in about(Settings.model_fields[flag])["commands"] for flag in flags))
    meant = f"Did you mean {prog} {command} {' '.join(map(flag_of, flags))}?" if (command := next(users, "")) else ""
    return ConfigurationError("No command is given", meant or f"Name one of {', '.join(COMMANDS)}, or give --interval.")


def _must_be_used(flags: Iterable[str], command: str) -> None:
    """A flag that the command does not use is an error. Variables and the file may serve several commands."""
    for field in flags:
        used_by = about(Settings.model_fields[field])["commands"]
        if command and command not in used_by and field != "name":
            raise ConfigurationError(f"{flag_of(field)} is not used by {command}; it belongs to: {', '.join(used_by)}")


def _first(error: ValidationError, sources: Mapping[str, Given]) -> str:
    """The first mistake, with its source."""
    problem = error.errors(include_url=False)[0]
    text = shortened(one_line(problem["msg"].removeprefix("Value error, ")), _VALUE_MAX)
    if not problem["loc"]:
        return text
    field = str(problem["loc"][0])
    shown = "used" if about(Settings.model_fields[field])["secret"] else _shown(problem["input"])
    source = sources[field].source
    return f"{'NAME' if source == flag_of('name') else source} cannot be {shown}: {text}"


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
