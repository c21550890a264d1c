"""The options that describe a generated fleet, for the server and for the command that measures."""

from __future__ import annotations

import argparse


def fleet_parser(program: str, description: str) -> argparse.ArgumentParser:
    """A parser with these options."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--takaras", type=int, default=1000, metavar="N", help="default: %(default)s")
    parser.add_argument("--namespaces", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--annotations", type=int, default=0, metavar="BYTES", help="of each Takara; default: none")
    parser.add_argument("--cold", action="store_true", help="no pass has run yet: there are only Takaras")
    return parser


def fleet_arguments(options: argparse.Namespace) -> list[str]:
    """The arguments that describe the same fleet."""
    numbers = [f"--{name}={getattr(options, name)}" for name in ("takaras", "namespaces", "annotations")]
    return [*numbers, *(["--cold"] if options.cold else [])]
