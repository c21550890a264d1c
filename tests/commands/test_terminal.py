"""What a person sees: nothing wider than the terminal, nothing cut off; what is piped is plain, whole and stable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from takara_sync.simulator import Refusal
from tests.commands.running import Commands
from tests.commands.staging import converged
from tests.contract.simulated import Simulated
from tests.support.command import Done, run
from tests.world import Json, World, takara

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


def test_a_name_is_whole_on_any_terminal(commands: Commands) -> None:
    image = "registry.example.org/a/long/path/to/an/image:1.2.3"
    for args in (("once", "--dry-run"), ("plan",)):
        words = shown(commands, args, 30).text.split()
        assert all(any(name in word for word in words) for name in (f"{LONG[:-1]}b", image))


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False)],
)
def test_a_danger_is_a_word_of_its_own_in_red(commands: Commands, variables: dict[str, str], *, coloured: bool) -> None:
    raw = shown(commands, ("plan",), 200, **variables).raw
    assert "ROLLOUT: pods are replaced" in raw
    assert ("\x1b[31mROLLOUT: pods are replaced\x1b[0m" in raw) is coloured


def test_a_colour_can_be_forced_into_a_pipe(commands: Commands) -> None:
    assert "\x1b[31mROLLOUT" in commands.run("plan", FORCE_COLOR="1").stdout
    assert "\x1b" not in commands.run("plan").stdout


# ------------------------------------------------------------------ stderr


def on_a_terminal(commands: Commands, *args: str, **variables: str) -> Done:
    return run(*args, env=commands.environment() | {"TERM": "xterm"} | variables, columns=100)


@pytest.mark.parametrize("args", [("once", "--dry-run"), ("plan",), ("check",), ("once", "--dry-run", "-o", "json")])
def test_the_cluster_is_named_on_a_terminal(commands: Commands, args: tuple[str, ...]) -> None:
    line = "using the kubeconfig .*, context simulator, .* at http://127.0.0.1:[0-9]+$"
    for more in ((), ("--log-level", "error"), ("--log-level", "info")):
        stderr = on_a_terminal(commands, *args, *more).stderr
        assert len(re.findall(line, stderr, re.MULTILINE)) == 1
    (first, *_) = commands.run(*args).log
    assert re.search(line, first["message"])


@pytest.mark.parametrize("command", ["once", "plan", "check"])
def test_an_error_is_said_once(commands: Commands, command: str, tmp_path: Path) -> None:
    """On one terminal. If stdout leads elsewhere, stderr says it too."""
    broken = tmp_path / "kubeconfig"
    broken.write_text(re.sub(r"127.0.0.1:\d+", "127.0.0.1:1", Path(commands.environment()["KUBECONFIG"]).read_text()))
    done = on_a_terminal(commands, command, KUBECONFIG=str(broken))
    assert done.code == 3
    screen = Screen(done.stderr + done.stdout).text.replace("\n", " ")
    assert screen.count("Is the API server up") == 1
    assert len(re.findall(r"WARNING \d+ x connection refused, trying again", screen)) == 1
    assert "Is the API server up" in run(command, env={"KUBECONFIG": str(broken)}).stderr


def refuse(new: Json) -> Json:
    if new["kind"] == "Deployment":
        raise Refusal(403, "Forbidden", "no more than nothing")
    return new


def test_a_failed_takara_is_said_once(simulated: Simulated) -> None:
    world = World(simulated, simulated.namespace())
    commands = Commands(simulated, world.namespace)
    world.create(takara("one", 1))
    simulated.store.admission.append(refuse)
    done = on_a_terminal(commands, "once", "-n", world.namespace)
    simulated.store.admission.remove(refuse)
    assert done.code == 1
    assert Screen(done.stderr + done.stdout).text.replace("\n", " ").count("no more than nothing") == 1


# ------------------------------------------------------------------ piped, to the letter

IMAGE = "spec.template.spec.containers[takara].image registry.example.org/a/long/path/to/an/image:1.2.3 -> busybox"
ROLLOUT = "ROLLOUT: pods are replaced"
SCALED = "spec.replicas 7 -> 3 (set by kubectl, subresource scale)"
TOO_LARGE = "SizeTooLarge: spec.size is 1001, above the limit of 1000. Lower it, or raise --max-size."
ONCE = f"""\
NAMESPACE         NAME                                                           SIZE   READY   RESULT      DETAIL
test-0123456789   {LONG}   3      0       updated     {ROLLOUT}; {SCALED}; {IMAGE} (set by kubectl-set, TIME)
test-0123456789   new                                                            1      0       created
test-0123456789   calm                                                           1      0       unchanged   Progressing
test-0123456789   {LONG[:-1]}b   1001   0       invalid     {TOO_LARGE}
4 Takaras: 1 created, 1 updated, 1 unchanged, 1 invalid; 1 not Ready: test-0123456789/calm 0/1 (TIME)
"""
PLAN = f"""\
! test-0123456789/{LONG[:-1]}b: invalid  {TOO_LARGE}
~ test-0123456789/{LONG}: apply  ROLLOUT: pods are replaced, REPLICAS: 7 -> 3
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
