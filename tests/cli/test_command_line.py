"""The command line: commands, flags before and after them, lists, durations, and what does not fit together."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from takara_sync import __version__
from takara_sync.cli import logs, loop
from takara_sync.cli.main import main
from takara_sync.cli.options import COMMANDS, load
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from takara_sync.errors import ConfigurationError, Unreadable
from takara_sync.report import Exit

pytestmark = pytest.mark.usefixtures("signals_of_their_own")


def settings(*argv: str, **environ: str) -> Settings:
    return load(["once", *argv], environ)[1]


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
    command, found = load(argv, {})
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
    assert load(argv, environ)[0] == command


@pytest.mark.parametrize("argv", [["-n", "a", "-n", "b"], ["-n", "a, b"], ["-n", "a,b", "--namespace", "a"]])
def test_lists_repeat_or_take_commas(argv: list[str]) -> None:
    assert settings(*argv).namespace == settings(TAKARA_SYNC_NAMESPACE="a, b").namespace == ("a", "b")


@pytest.mark.parametrize("name", ["", " ", "a,", ",", "A", "a_b", "-a", "a" * 64, "a/b", "../a", "*"])
def test_what_is_no_namespace_is_a_mistake(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^--namespace cannot be"):
        settings(f"--namespace={name}")


@pytest.mark.parametrize("selector", ["", " ", "\t"])
def test_an_empty_selector_does_not_mean_everything(selector: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^--selector cannot be"):
        settings("-l", selector)


@pytest.mark.parametrize(
    ("text", "seconds"), [("10", 10), ("1.5", 1.5), ("500ms", 0.5), ("10s", 10), ("2m", 120), ("1h", 3600), (" 3s ", 3)]
)
def test_durations(text: str, seconds: float) -> None:
    assert load(["--interval", text], {})[1].interval == seconds


@pytest.mark.parametrize(
    "text",
    ["0", "0s", "-1", "soon", "10 s", "1d", "1e3", "inf", "nan", "10sec", ".5", "9" * 400],
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^--interval cannot be"):
        load([f"--interval={text}"], {})


@pytest.mark.parametrize(
    ("flag", "good", "wrong"),
    [
        ("--concurrency", ("1", "256"), ("0", "257", "-1", "x")),
        ("--max-size", ("0", "2147483647"), ("-1", "2147483648", "1.5", "1e3")),
        ("--max-changes", ("0", "5"), ("-1", "none")),
        ("--tolerate", ("blocked", "invalid,blocked"), ("failed", "blocked,")),
    ],
)
def test_the_range_of(flag: str, good: tuple[str, ...], wrong: tuple[str, ...]) -> None:
    for text in good:
        settings(f"{flag}={text}")
    for text in wrong:
        with pytest.raises(ConfigurationError, match=f"^{flag} cannot be"):
            settings(f"{flag}={text}")


def test_a_request_may_not_take_longer_than_its_pass() -> None:
    with pytest.raises(ConfigurationError, match=r"request-timeout \(60 s\) exceeds pass-timeout \(50 s\)"):
        settings("--request-timeout", "1m")


def test_a_flag_that_the_command_does_not_use_is_a_mistake_and_a_variable_is_not() -> None:
    with pytest.raises(ConfigurationError, match=r"--interval is not used by once; it belongs to: loop"):
        settings("--interval", "10")
    assert settings(TAKARA_SYNC_INTERVAL="10")


@pytest.mark.parametrize("argv", [["twice"], ["loop"], ["Once"]])
def test_an_unknown_command(argv: list[str]) -> None:
    with pytest.raises(ConfigurationError, match=r"is no command; there are: .*once"):
        load(argv, {})


@pytest.mark.parametrize("argv", [["once", "twice"], ["--no-such-flag"], ["--max-siz", "3"], ["once", "-n"]])
def test_what_argparse_does_not_understand_is_a_mistake_like_others(argv: list[str]) -> None:
    with pytest.raises(ConfigurationError, match=r"(?i)unrecognized arguments|expected (at least )?one argument"):
        load(argv, {})


# ------------------------------------------------------------------ main


@pytest.fixture(autouse=True)
def log_set_up(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What `main` wants of the log; the log of the tests stays as it is."""
    wanted: list[tuple[str, str]] = []
    monkeypatch.setattr(logs, "set_up", lambda *chosen: wanted.append(chosen))
    return wanted


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What comes of a run: the code that it returns, or what it raises."""
    script: list[Any] = []

    def run(_settings: Settings, _stop: Stop) -> Exit:
        if isinstance(script[0], Exception):
            raise script[0]
        return Exit(script[0])

    for name in ("run_once", "run_loop"):
        monkeypatch.setattr(loop, name, run)
    return script


@pytest.mark.parametrize("code", list(Exit))
@pytest.mark.parametrize("argv", [["once"], ["--interval", "9"]])
def test_the_exit_code_is_that_of_the_run(script: list[Any], code: Exit, argv: list[str]) -> None:
    script.append(code)
    assert main(argv) == code


def test_off_a_terminal_the_log_is_json_at_info(script: list[Any], log_set_up: list[tuple[str, str]]) -> None:
    script.append(Exit.OK)
    main(["once"])
    assert log_set_up[-1] == ("json", "info")
    main(["once", "--log-format", "text", "--log-level", "debug"])
    assert log_set_up[-1] == ("text", "debug")


@pytest.mark.parametrize(
    ("error", "code"), [(ConfigurationError("no"), 2), (Unreadable("no"), 3), (RuntimeError("x"), 70)]
)
def test_an_error_becomes_its_exit_code(script: list[Any], error: Exception, code: int) -> None:
    script.append(error)
    assert main(["once"]) == code


def test_bare_it_is_help_and_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr().out
    assert all(command in shown for command in COMMANDS)
    assert "exit codes:" in shown


@pytest.mark.parametrize("mistake", [("--max-size", "many"), ("--no-such-flag",), ("-n",), ("twice",)])
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_mistake_is_one_line_on_stderr(mistake: tuple[str, ...], form: str) -> None:
    """Also before the settings are known: off a terminal that line is a JSON object, as the others will be."""
    args = [sys.executable, "-m", "takara_sync", *mistake, *(("--log-format", "text") if form == "text" else ())]
    done = subprocess.run(args, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    said = json.loads(line)["message"] if form == "json" else line.removeprefix("takara-sync: error: ")
    assert said != line
    assert said.endswith("See takara-sync --help.")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["--version"])
    assert (raised.value.code, capsys.readouterr().out) == (0, f"takara-sync {__version__}\n")
