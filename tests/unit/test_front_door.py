"""The front door: what the package names is there, and importing it costs and changes nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable

import pytest

import takara_sync
from takara_sync import errors

HEAVY = {"kubernetes", "pydantic", "urllib3", "tenacity", "yaml", "requests", "msgspec", "shtab"}
STATE = """
import json, logging, signal, sys, threading
def state():
    named = {name: l for name, l in logging.Logger.manager.loggerDict.items() if isinstance(l, logging.Logger)}
    loggers = {name: [l.level, len(l.handlers), l.propagate] for name, l in {**named, "": logging.getLogger()}.items()}
    signals = [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())]
    return [loggers, [signals, str(sys.excepthook), str(threading.excepthook)]]
"""


def fresh(code: str) -> list[object]:
    """What a new interpreter prints as JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found: list[object] = json.loads(done.stdout)
    return found


def loaded(statement: str) -> set[str]:
    return set(map(str, fresh(f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))")))


@pytest.mark.parametrize(
    ("argv", "unused"),
    [
        (["--version"], HEAVY),
        (["--help"], HEAVY - {"msgspec", "pydantic"}),
        (["once", "--help"], HEAVY - {"msgspec", "pydantic"}),
        (["once", "--no-such-flag"], HEAVY - {"msgspec", "pydantic"}),
    ],
    ids=["version", "help", "help of a command", "a mistake"],
)
def test_the_command_loads_only_what_it_uses(argv: list[str], unused: set[str]) -> None:
    command = f"sys.stdout = io.StringIO()\ntry: main({argv})\nexcept SystemExit: pass\nsys.stdout = sys.__stdout__"
    found = loaded(f"import io\nfrom takara_sync.cli.main import main\n{command}")
    assert "argparse" in found
    assert not found & unused


def test_the_exported_names_are_those_of_all() -> None:
    public = {name for name in takara_sync._HOME_OF if not name.startswith("_")}
    assert public == set(takara_sync.__all__)
    assert len(takara_sync.__all__) == len(public)
    assert public <= set(dir(takara_sync))


def test_every_error_can_be_imported_from_the_front_door() -> None:
    """Who catches one must not need the name of a module inside."""
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert kinds <= set(takara_sync.__all__)


@pytest.mark.parametrize("name", takara_sync.__all__)
def test_every_name_is_there_and_at_home_where_it_says(name: str) -> None:
    found = getattr(takara_sync, name)
    home = f"takara_sync.{takara_sync._HOME_OF[name]}"
    assert getattr(sys.modules[home], name) is found
    assert getattr(found, "__module__", home) in {home, "types", "typing", "collections.abc"}


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'takara_sync' has no attribute 'nothing'"):
        _ = takara_sync.nothing


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import takara_sync", set()),
        ("from takara_sync import sync_once, Policy, DryRun, Deadline, Report", {"msgspec"}),
        ("import takara_sync.pytest_plugin", set()),
        ("import takara_sync.simulator", {"msgspec", "takara_sync.simulator", "yaml"}),
    ],
)
def test_an_import_loads_nothing_that_it_does_not_need(statement: str, heavy: set[str]) -> None:
    assert loaded(statement) & HEAVY <= heavy


@pytest.mark.parametrize(
    "imports", [["takara_sync"], ["takara_sync.sync", "takara_sync.kube.cluster"]], ids=["front door", "everything"]
)
def test_the_import_changes_no_state(imports: Iterable[str]) -> None:
    """A logger of ours may come into being, but has neither a level nor a handler."""
    before, after = fresh(
        f"{STATE}\nbefore = state()\nimport {', '.join(imports)}\nprint(json.dumps([before, state()]))"
    )
    assert isinstance(before, list)
    assert isinstance(after, list)
    assert after[1] == before[1]
    assert after[0] | before[0] == after[0], "loggers that were there are as they were"
    ours = {name: told for name, told in after[0].items() if name.startswith("takara_sync")}
    assert ours in ({}, {"takara_sync": [0, 0, True]})
