"""The command line: commands, flags before and after them, lists, durations, and what does not fit together."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

import pytest

from takara_sync import __version__
from takara_sync.cli import loop
from takara_sync.cli.options import COMMANDS, LOOP
from takara_sync.cli.settings import Settings, about
from takara_sync.cli.sources import flag_of
from takara_sync.cli.stop import Stop
from takara_sync.errors import ConfigurationError, Unreadable
from takara_sync.report import Exit
from tests.support.command import loaded, run


def settings(*argv: str, **environ: str) -> Settings:
    return loaded(["once", *argv], environ)[1]


@pytest.mark.parametrize(
    "argv",
    [
        ["once", "-n", "a", "--dry-run", "-o", "json"],
        ["-n", "a", "--dry-run", "-o", "json", "once"],
        ["-n", "a", "once", "--dry-run", "--output=json"],
        ["--dry-run", "once", "-na", "-ojson"],
    ],
)
def test_flags_before_and_after_the_command(argv: list[str]) -> None:
    command, found = loaded(argv)
    assert (command, found.namespace, found.dry_run, found.output) == ("once", ("a",), True, "json")


@pytest.mark.parametrize(
    ("argv", "environ", "command"),
    [
        (["once"], {}, "once"),
        ([], {}, ""),
        (["--interval", "10"], {}, "loop"),
        ([], {"TAKARA_SYNC_INTERVAL": "10"}, "loop"),
        (["once"], {"TAKARA_SYNC_INTERVAL": "10"}, "once"),
    ],
)
def test_which_command_it_is(argv: list[str], environ: dict[str, str], command: str) -> None:
    assert loaded(argv, environ)[0] == command


@pytest.mark.parametrize("argv", [["-n", "a", "-n", "b"], ["-n", "a, b"], ["-n", "a,b", "--namespace", "a"]])
def test_lists_repeat_or_take_commas(argv: list[str]) -> None:
    assert settings(*argv).namespace == settings(TAKARA_SYNC_NAMESPACE="a, b").namespace == ("a", "b")


@pytest.mark.parametrize(
    ("text", "seconds"), [("10", 10), ("1.5", 1.5), ("500ms", 0.5), ("10s", 10), ("2m", 120), ("1h", 3600), (" 3s ", 3)]
)
def test_durations(text: str, seconds: float) -> None:
    assert loaded(["--interval", text])[1].interval == seconds


GOOD = {
    "--concurrency": ["1", "256"],
    "--max-size": ["0", "2147483647"],
    "--max-changes": ["0", "5"],
    "--tolerate": ["blocked", "invalid,blocked"],
}
WRONG = {
    "--namespace": ["", " ", "a,", ",", "A", "a_b", "-a", "a" * 64, "a/b", "../a", "*"],
    "--selector": ["", " ", "\t"],  # an empty one does not mean everything
    "--pass-timeout": ["0", "0s", "-1", "soon", "10 s", "1d", "1e3", "inf", "nan", "10sec", ".5", "9" * 400],
    "--concurrency": ["0", "257", "-1", "x"],
    "--max-size": ["-1", "2147483648", "1.5", "1e3"],
    "--max-changes": ["-1", "none"],
    "--tolerate": ["failed", "blocked,"],
}
OTHERS = {
    r"is not a command; there are: .*once": [["twice"], ["loop"]],
    r"is not a command, did you mean once\?": [["Once"], ["onec"], ["onec", "-n", "a"]],
    r"--no-such-flag is not an option\. See": [["--no-such-flag"], ["once", "--no-such-flag=1"]],
    r"is not an option, did you mean --max-size\?": [["--max-siz", "3"], ["once", "--max-siz=3"]],
    r"is not an option, did you mean --interval\?": [["once", "--intervall", "3"]],
    r"takes no further words, but there is 'twice'": [["check", "twice"], ["manifests", "-n", "a", "twice"]],
    r"^NAME cannot be .*: expected the name of a Takara": [
        ["once", "A"],
        ["plan", "a/b/c"],
        ["once", "a/"],
    ],
    r"(?i)expected (at least )?one argument": [["once", "-n"]],
    r"--interval is not used by once; it belongs to: loop": [["once", "--interval", "10"]],
    r"request-timeout \(60 s\) exceeds pass-timeout \(50 s\)": [["once", "--request-timeout", "1m"]],
}
MISTAKES = [(["once", f"{flag}={text}"], f"^{flag} cannot be") for flag, texts in WRONG.items() for text in texts]
MISTAKES += [(argv, message) for message, argvs in OTHERS.items() for argv in argvs]


@pytest.mark.parametrize(("argv", "message"), MISTAKES)
def test_a_mistake_is_named(argv: list[str], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        loaded(argv)


@pytest.mark.parametrize(
    ("argv", "meant"),
    [
        (["--wait", "60s"], "Did you mean takara-sync once --wait?"),
        (["--server"], "Did you mean takara-sync plan --server?"),
        (["--image", "x", "--schedule=@hourly"], "Did you mean takara-sync manifests --image --schedule?"),
        (["--dry-run"], "Did you mean takara-sync once --dry-run?"),
        (["--serve", "--wait", "3"], "Name one of once, plan, "),
    ],
)
def test_flags_without_a_command_suggest_the_command_that_uses_them(argv: list[str], meant: str) -> None:
    done = run(*argv)
    assert (done.code, done.stdout) == (2, "")
    assert f"No command is given. {meant}" in done.stderr


def test_names_stand_anywhere_after_the_command() -> None:
    for argv in (
        ["once", "web", "a/db"],
        ["-n", "a", "once", "web", "--dry-run", "a/db"],
        ["once", "-o", "json", "web,a/db"],
    ):
        assert loaded(argv)[1].name == ("web", "a/db")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_the_help_of_a_command_has_its_own_options_only(command: str) -> None:
    done = run(*filter(None, [command]), "--help")
    used = {name for name, field in Settings.model_fields.items() if (command or LOOP) in about(field)["commands"]}
    words = set(re.findall(r"--[a-z-]+[a-z]", done.stdout.partition("\noptions:")[2].partition("\nEach option")[0]))
    shown = {flag for flag in map(flag_of, Settings.model_fields) if flag in words}
    assert shown == {flag_of(name) for name in used} - {"--name"}
    assert (done.code, done.stderr, "exit codes:" in done.stdout) == (0, "", command not in ("demo", "completion"))
    assert run("-h", *filter(None, [command])).stdout == done.stdout


@pytest.mark.parametrize("flag", GOOD)
def test_the_range_of(flag: str) -> None:
    for text in GOOD[flag]:
        settings(f"{flag}={text}")


# ------------------------------------------------------------------ the command


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What comes of a run: the code that it returns, or what it raises."""
    script: list[Any] = []

    def run_it(_settings: Settings, _stop: Stop) -> Exit:
        if isinstance(script[0], Exception):
            raise script[0]
        logging.getLogger("takara_sync").info("it ran")
        return Exit(script[0])

    for name in ("run_once", "run_loop"):
        monkeypatch.setattr(loop, name, run_it)
    return script


@pytest.mark.parametrize("code", list(Exit))
@pytest.mark.parametrize("argv", [["once"], ["--interval", "9"]])
def test_the_exit_code_is_that_of_the_run(script: list[Any], code: Exit, argv: list[str]) -> None:
    script.append(code)
    assert run(*argv).code == code


def test_off_a_terminal_the_log_is_json_at_info(script: list[Any]) -> None:
    script.append(Exit.OK)
    assert json.loads(run("once").stderr)["level"] == "info"
    assert run("once", "--log-format", "text", "--log-level", "debug").stderr.endswith("INFO    it ran\n")
    assert run("once", "--log-level", "warning").stderr == ""


@pytest.mark.parametrize(
    ("error", "code"), [(ConfigurationError("no"), 2), (Unreadable("no"), 3), (RuntimeError("x"), 70)]
)
def test_an_error_becomes_its_exit_code(script: list[Any], error: Exception, code: int) -> None:
    script.append(error)
    assert run("once").code == code


def test_bare_it_is_help_and_2() -> None:
    bare = run()
    assert bare.code == 2
    assert all(command in bare.stdout for command in COMMANDS)
    assert "exit codes:" in bare.stdout


@pytest.mark.parametrize("mistake", [("--max-size", "many"), ("--no-such-flag",), ("-n",), ("twice",)])
def test_a_mistake_is_one_line_on_stderr(mistake: tuple[str, ...]) -> None:
    """Also before the settings are known: off a terminal that line is a JSON object, as the others will be."""
    machines, people = run(*mistake), run(*mistake, "--log-format", "text")
    assert (machines.code, machines.stdout) == (people.code, people.stdout) == (2, "")
    said = json.loads(machines.stderr)["message"]
    assert said.endswith("See takara-sync --help.")
    assert people.stderr == f"takara-sync: error: {said}\n"


def test_version() -> None:
    assert run("--version") == (0, f"takara-sync {__version__}\n", "")
