"""Tests that try many things drawn from a seed: how many, from which seed, and what they counted.

A short form with a seed of its own runs every time; `--long` takes minutes for a folder, from a new seed unless
`--seed` gives one. What a test counts is summed up by name over the whole run and printed at its end.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable

import pytest

_LONG_SECONDS = 3600  # that one test may take then
_SHORT_SEED = 7
_COUNTED = "counted"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of a long run."""
    parser.addoption("--long", action="store_true", help="the long form of the tests that try many things")
    parser.addoption(
        "--seed", type=int, help=f"what they are drawn from; default: {_SHORT_SEED}, with --long a new one"
    )


def pytest_configure(config: pytest.Config) -> None:
    """One seed for all workers: the first process chooses, the others are told by its command line."""
    if config.option.seed is None:
        config.option.seed = secrets.randbelow(2**31) if config.option.long else _SHORT_SEED


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: pytest.Item) -> None:
    """Hands the seed on to a worker of xdist."""
    node.workerinput["seed"] = node.config.option.seed  # type: ignore[attr-defined]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Takes the seed that the first process chose."""
    handed = getattr(session.config, "workerinput", {})
    session.config.option.seed = handed.get("seed", session.config.option.seed)


def pytest_report_header(config: pytest.Config) -> str:
    """Says what has to be given to see the same again."""
    return f"trials: --seed {config.option.seed}{' --long' if config.option.long else ''}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A long test may take long."""
    if config.option.long:
        for item in items:
            item.add_marker(pytest.mark.timeout(_LONG_SECONDS), append=False)  # before a limit of its own


@pytest.fixture
def long(request: pytest.FixtureRequest) -> bool:
    """Whether this is the long run."""
    return bool(request.config.option.long)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """What random trials of this test are drawn from."""
    return int(request.config.option.seed)


@pytest.fixture
def count(record_property: Callable[[str, object], None]) -> Callable[[str, int], None]:
    """`count(what, how_many)`: summed up by `what` over all tests and printed at the end of the run."""
    return lambda what, how_many: record_property(_COUNTED, (what, how_many))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what was counted."""
    counted: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", ()):
        for what, how_many in (value for name, value in report.user_properties if name == _COUNTED):
            counted[what] += how_many
    for what, how_many in sorted(counted.items()):
        terminalreporter.write_line(f"{how_many:>9,} {what}")
