"""Flags, variables and whole command lines that are broken in every way: exit 2, and one line that names the source."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

import pytest

from takara_sync.cli.settings import Settings
from takara_sync.cli.sources import ENV_PREFIX, flag_of
from tests.poison.refusing import USAGE, refused
from tests.poison.values import NASTY

ABSENT = {"KUBECONFIG": "/absent/kubeconfig"}
"""What a command line that is right leads to: these tests have no cluster."""
WORDS = ["", " ", ",", "-1", "nan", "inf", "1e999", "9" * 5000, "x" * 100_000, "\u0661", NASTY.replace("\x00", "")]
WORDS += ["{}", "%s", "a=b"]


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name != "config"])
def test_odd_words_in_flags_and_variables(name: str, long: bool, seed: int, count: Callable[[str, int], None]) -> None:
    words = WORDS if long else random.Random(f"{seed} {name}").sample(WORDS, 3)  # noqa: S311 - trials, no secrets
    for word in words:
        variable = {ENV_PREFIX + name.upper(): word}
        assert refused(["once"], "", ABSENT | variable, about=f"{name}: {word[:40]}") == USAGE
        flag = f"{flag_of(name)}={word}"
        assert refused(["once", flag], "", ABSENT, about=f"{name}={word[:40]}") == USAGE
    count("broken configurations refused", 2 * len(words))


def test_random_command_lines(long: bool, seed: int, count: Callable[[str, int], None]) -> None:
    draw = random.Random(seed)  # noqa: S311 - trials, no secrets
    flags = [flag_of(name) for name in Settings.model_fields if name not in ("config", "serve", "interval")]
    every = [*flags, "-n", "-o", "-l", "once", "plan", "check", "xyzzy", "--", *WORDS[:6]]
    trials = 5000 if long else 60
    for _ in range(trials):
        words = [draw.choice(every) + draw.choice(["", "", "", draw.choice(string.printable)]) for _ in range(5)]
        assert refused(words, "", ABSENT, about=" ".join(words)) == USAGE, words
    count("broken configurations refused", trials)
