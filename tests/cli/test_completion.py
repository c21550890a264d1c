"""The script of `takara-sync completion`, asked by a real bash."""

from __future__ import annotations

import subprocess

import pytest
import shtab

from tests.support.command import run

ASK = """
{script}
COMP_WORDS=({words} ''); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_WORDS[COMP_CWORD]={start}
$(complete -p takara-sync | sed -E 's/.*-F (\\S+).*/\\1/') && printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(words: str, start: str) -> list[str]:
    """What bash offers for a word that starts so, after these words."""
    code = ASK.format(script=run("completion", "bash").stdout, words=words, start=start)
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return sorted(done.stdout.split())


def test_commands_and_the_options_of_a_command() -> None:
    assert completed("takara-sync", "ma") == ["manifests"]
    assert completed("takara-sync once", "--wa") == ["--wait"]
    assert completed("takara-sync plan", "--wa") == []
    assert completed("takara-sync once --output", "j") == ["json", "json-brief"]
    assert completed("takara-sync completion", "f") == ["fish"]


@pytest.mark.parametrize("shell", shtab.SUPPORTED_SHELLS)
def test_every_shell_that_is_offered_gets_a_script(shell: str) -> None:
    done = run("completion", shell)
    assert (done.code, done.stderr, "pass-timeout" in done.stdout) == (0, "", True)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "Name one shell"),
        (["bsh"], "did you mean bash?"),
        (["bash", "zsh"], "Name one shell"),
        (["x"], "There are"),
    ],
)
def test_another_shell_is_a_mistake(argv: list[str], words: str) -> None:
    done = run("completion", *argv)
    assert (done.code, done.stdout) == (2, "")
    assert words in done.stderr
