"""`takara-sync completion SHELL`: a script for the shell. It is made once; to complete a word starts no Python."""

from __future__ import annotations

import argparse

import shtab

from takara_sync.cli.options import COMMANDS, WORDS, add_options, choices_of, parser
from takara_sync.cli.render import write
from takara_sync.cli.settings import Settings
from takara_sync.cli.sources import close_match
from takara_sync.cli.stop import Stop
from takara_sync.errors import ConfigurationError
from takara_sync.report import Exit

_FILES = ("config", "kubeconfig")


def run(settings: Settings, stop: Stop) -> Exit:  # noqa: ARG001 - every command has these arguments
    """Print the script.

    Raises:
        ConfigurationError: no shell is named, or one that is not supported.
    """
    shell = settings.name[0] if len(settings.name) == 1 else ""
    if shell not in shtab.SUPPORTED_SHELLS:
        what = f"{shell!r} is not a shell that can be completed{close_match(shell, shtab.SUPPORTED_SHELLS)}"
        every = ", ".join(shtab.SUPPORTED_SHELLS)
        raise ConfigurationError(what if shell else "Name one shell", f"There are: {every}.")
    write(shtab.complete(_tree(), shell))
    return Exit.OK


def _tree() -> argparse.ArgumentParser:
    """The same options as `parser`, with a subparser for each command: this is how shtab knows them."""
    root = parser()
    commands = root.add_subparsers()
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, help=what)
        add_options(command, name)
        if WORDS.get(name) == "SHELL":
            command.add_argument("shell", choices=shtab.SUPPORTED_SHELLS)
        for action in command._actions:
            if field := Settings.model_fields.get(action.dest):
                action.choices = choices_of(field) or None
            if action.dest in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return root
