"""What a person sees: nothing wider than the terminal, nothing cut off; what is piped is plain, whole and stable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.commands.running import Commands
from tests.commands.staging import converged
from tests.contract.simulated import Simulated
from tests.support.command import run
from tests.world import World, takara

LONG = "a-takara-with-a-name-of-sixty-characters-as-people-make-them"
READERS = (
    ("once", "--dry-run"),
    ("once", "--dry-run", "-o", "wide"),
    ("plan",),
    ("plan", "-o", "wide"),
    ("check",),
    ("--help",),
)
_TIME = re.compile(r"\d+\.\d s\b|\d+s ago|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d\d:\d\d:\d\d")


_ESCAPE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[@-_])")


@dataclass(frozen=True)
class Screen:
    """What came out, with its escape sequences and without them."""

    raw: str

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in _ESCAPE.sub("", self.raw).split("\n")]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def fleet_of(simulated: Simulated) -> Commands:
    """A fleet with long names of which something is to be told: drift by two, an invalid one, a new one."""
    world = World(simulated, simulated.namespace())
    commands = Commands(simulated, world.namespace)
    converged(world, commands, takara(LONG, 3), takara("calm", 1))
    world.kubectl("scale", f"deployment/{LONG}", "--replicas=7")
    world.kubectl("set", "image", f"deployment/{LONG}", "takara=registry.example.org/a/long/path/to/an/image:1.2.3")
    world.create(takara(f"{LONG[:-1]}b", 1001), takara("new", 1))
    return commands


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """Such a fleet, for what only reads."""
    with Simulated(tmp_path_factory.mktemp("fleet")) as simulated:
        yield fleet_of(simulated)


def shown(commands: Commands, args: tuple[str, ...], columns: int, **variables: str) -> Screen:
    """What a command writes to a terminal of so many columns, in this process."""
    variables = {"TERM": "xterm-256color"} | variables
    done = run(*args, "-n", commands.namespace or "", env=commands.environment() | variables, columns=columns)
    return Screen(done.stdout)


@pytest.mark.parametrize(("columns", "terminal"), [(80, "xterm-256color"), (200, "xterm-256color"), (80, "dumb")])
@pytest.mark.parametrize("args", READERS, ids=" ".join)
def test_no_line_is_wider_than_the_terminal(
    commands: Commands, args: tuple[str, ...], columns: int, terminal: str
) -> None:
    screen = shown(commands, args, columns, TERM=terminal)

    assert [line for line in screen.lines if len(line) > columns] == []
    assert len(screen.lines) > 3
    assert terminal != "dumb" or "\x1b" not in screen.raw


@pytest.mark.parametrize("args", READERS, ids=" ".join)
def test_colours_on_a_terminal_and_none_where_nobody_wants_them(commands: Commands, args: tuple[str, ...]) -> None:
    coloured = shown(commands, args, 100)
    plain = shown(commands, args, 100, NO_COLOR="1")

    assert args == ("--help",) or "\x1b[3" in coloured.raw
    assert "\x1b" not in plain.raw
    assert _TIME.sub("", plain.text) == _TIME.sub("", coloured.text)


# ------------------------------------------------------------------ piped, to the letter

IMAGE = "spec.template.spec.containers[takara].image registry.example.org/a/long/path/to/an/image:1.2.3 -> busybox"
SCALED = "spec.replicas 7 -> 3 (set by kubectl, subresource scale)"
TOO_LARGE = "SizeTooLarge: spec.size is 1001, above the limit of 1000. Lower it, or raise --max-size."
ONCE = f"""\
NAMESPACE         NAME                                                           SIZE   READY   RESULT      DETAIL
test-0123456789   {LONG}   3      0       updated     {SCALED}; {IMAGE} (set by kubectl-set, TIME)
test-0123456789   new                                                            1      0       created
test-0123456789   calm                                                           1      0       unchanged   Progressing
test-0123456789   {LONG[:-1]}b   1001   0       invalid     {TOO_LARGE}
4 Takaras: 1 created, 1 updated, 1 unchanged, 1 invalid; 1 not Ready: test-0123456789/calm 0/1 (TIME)
"""
PLAN = f"""\
! test-0123456789/{LONG[:-1]}b: invalid  {TOO_LARGE}
~ test-0123456789/{LONG}: apply  rollout
    {SCALED}
    {IMAGE} (set by kubectl-set, TIME)
+ test-0123456789/new: create  1 replica
plan: 1 to create, 1 to apply, 1 invalid, 1 unchanged
"""


@pytest.mark.parametrize(("args", "expected"), [(("plan",), PLAN), (("once",), ONCE)], ids=["plan", "once"])
def test_the_piped_form_is(simulated: Simulated, args: tuple[str, ...], expected: str) -> None:
    commands = fleet_of(simulated)
    assert commands.namespace

    piped = commands.run(*args).stdout

    assert _TIME.sub("TIME", piped).replace(commands.namespace, "test-0123456789") == expected
