"""Config files, variables and flags that are broken in every way: exit 2, and one line that names the source."""

from __future__ import annotations

import random
import string
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from takara_sync.cli.settings import Settings
from takara_sync.cli.sources import ENV_PREFIX, flag_of
from tests.poison.configs import mutated, places, texts, typed
from tests.poison.refusing import USAGE, refused
from tests.poison.values import NASTY
from tests.wire.command import TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GOOD = {
    "namespace": ["a", "b"],
    "selector": "app=x",
    "max-size": 7,
    "request-timeout": "5s",
    "pass-timeout": "20s",
    "allow-templates": True,
    "legacy-manager": ["x"],
    "tolerate": ["blocked"],
    "heartbeat-url": f"https://user:{TOKEN}@heartbeat.invalid/{TOKEN}",
    "kubeconfig": "/absent/kubeconfig",
}
TEXT = yaml.safe_dump(GOOD)
NO_KUBECONFIG = "There is no kubeconfig at"
"""What a file that is right leads to: these tests have no cluster."""


def refusal(folder: Path, what: str, text: bytes) -> int:
    path = folder / "config.yaml"
    path.write_bytes(text)
    return refused(["once", "--config", str(path)], "", about=what)


def test_a_file_that_is_none_is_refused(tmp_path: Path, count: Callable[[str, int], None]) -> None:
    wrong = texts(TEXT)
    path = tmp_path / "config.yaml"
    for what, text in wrong.items():
        path.write_bytes(text)
        assert refused(["once", "--config", str(path)], str(path), about=what) == USAGE, what
        assert refused(["once"], str(path), {"TAKARA_SYNC_CONFIG": str(path)}, what) == USAGE, what
    count("broken configurations refused", 2 * len(wrong))


def test_a_place_without_a_file_is_refused(tmp_path: Path, count: Callable[[str, int], None]) -> None:
    found = places(tmp_path)
    del found["a FIFO"]  # a pipe without a writer is an empty file, as for kubeconfigs
    for what, path in found.items():
        assert refused(["once", "--config", str(path)], str(path)[:300], about=what) == USAGE
    count("broken configurations refused", len(found))


@pytest.mark.parametrize("text", ["max-size: 1\nmax-size: 2\n", "max-size: 1\nmax_size: 2\n"])
def test_a_setting_that_is_there_twice_is_refused(tmp_path: Path, text: str) -> None:
    """Which of two namespaces is meant is nothing to be guessed."""
    path = tmp_path / "config.yaml"
    path.write_text(text)
    assert refused(["once", "--config", str(path)], str(path)) == USAGE


def test_a_wrong_type_anywhere_is_named_with_file_and_key(
    tmp_path: Path, long: bool, seed: int, count: Callable[[str, int], None]
) -> None:
    """A list where a list is wanted is none; the file is named, or, where it is right, the missing kubeconfig."""
    every = list(typed(GOOD))
    random.Random(seed).shuffle(every)  # noqa: S311 - trials, no secrets
    every = every if long else every[:60]
    for what, text in every:
        assert refusal(tmp_path, what, text) == USAGE, what
    count("broken configurations refused", len(every))


def test_bytes_flipped_anywhere(tmp_path: Path, long: bool, seed: int, count: Callable[[str, int], None]) -> None:
    every = list(mutated(TEXT.encode(), seed, 20_000 if long else 80))
    for number, text in enumerate(every):
        assert refusal(tmp_path, f"mutant {number}{'x' * (number % 2)}", text) == USAGE
    count("broken configurations refused", len(every))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just(NASTY) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(
    st.dictionaries(st.sampled_from(sorted(flag_of(name)[2:] for name in Settings.model_fields)), anything, max_size=4)
)
def test_any_value_for_any_setting(tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]) -> None:
    """Whatever stands in the file: no bug, no traceback, one clean line."""
    folder = tmp_path_factory.getbasetemp()
    values |= {"kubeconfig": "/absent/kubeconfig"}
    assert refusal(folder, str(sorted(values)), yaml.safe_dump(values, allow_unicode=True).encode()) == USAGE


WORDS = [
    "",
    " ",
    ",",
    "-1",
    "nan",
    "inf",
    "1e999",
    "9" * 5000,
    "x" * 100_000,
    "\u0661",
    NASTY.replace("\x00", ""),
    "{}",
    "%s",
    "a=b",
]


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name != "config"])
def test_odd_words_in_flags_and_variables(name: str, long: bool, seed: int, count: Callable[[str, int], None]) -> None:
    """What is refused names the flag or the variable; what is not leads to no cluster."""
    words = WORDS if long else random.Random(f"{seed} {name}").sample(WORDS, 3)  # noqa: S311 - trials, no secrets
    for word in words:
        where = {ENV_PREFIX + name.upper(): word, "KUBECONFIG": "/absent/kubeconfig"}
        assert refused(["once"], "", where, about=f"{name}: {word[:40]}") == USAGE
        flag = f"{flag_of(name)}={word}"
        assert refused(["once", flag], "", {"KUBECONFIG": "/absent/kubeconfig"}, about=f"{name}={word[:40]}") == USAGE
    count("broken configurations refused", 2 * len(words))


def test_random_command_lines(long: bool, seed: int, count: Callable[[str, int], None]) -> None:
    draw = random.Random(seed)  # noqa: S311 - trials, no secrets
    flags = [flag_of(name) for name in Settings.model_fields if name not in ("config", "serve", "interval")]
    for _ in range(5000 if long else 60):
        words = [
            draw.choice([*flags, "-n", "-o", "-l", "once", "plan", "check", "xyzzy", "--", *WORDS[:6]])
            for _ in range(5)
        ]
        words = [word + draw.choice(["", "", "", draw.choice(string.printable)]) for word in words]
        if "demo" not in words and "manifests" not in words:
            code = refused(words, "", {"KUBECONFIG": "/absent/kubeconfig"}, about=" ".join(words))
            assert code == USAGE, words
    count("broken configurations refused", 5000 if long else 60)
