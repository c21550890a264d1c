"""Kubeconfigs and config files that are broken in every way: exit 2, one line that names the file, no text of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from takara_sync.cli.settings import Settings
from takara_sync.cli.sources import flag_of
from tests.poison.configs import mutated, places, texts, typed
from tests.poison.refusing import UNREADABLE, USAGE, refused
from tests.poison.values import Json
from tests.wire.command import TOKEN

PLUGIN = {
    "apiVersion": "client.authentication.k8s.io/v1",
    "command": "false",
    "args": ["x"],
    "env": [{"name": "A", "value": TOKEN}],
}
USERS: dict[str, Json] = {
    "a token": {"token": TOKEN},
    "a plugin": {"exec": PLUGIN},
    "a certificate": {"client-certificate-data": "QUJD", "client-key-data": "QUJD"},
    "a provider": {"auth-provider": {"name": "oidc", "config": {"id-token": TOKEN}}},
    "a password": {"username": "u", "password": TOKEN},
}
SETTINGS: Json = {
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


def kubeconfig(user: str, **cluster: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "wire", "cluster": {"server": "https://127.0.0.1:1", "tls-server-name": "x"} | cluster}],
        "users": [{"name": "someone", "user": USERS[user]}],
        "contexts": [{"name": "here", "context": {"cluster": "wire", "user": "someone", "namespace": "x"}}],
    }


class File(NamedTuple):
    """How the command gets a file, one that is right, and what its exit code may be where a part of it is wrong.

    A kubeconfig that is right leads to no server (3), a config file that is right to no kubeconfig (2).
    """

    flag: str
    variable: str
    good: Json
    codes: set[int]

    def refusal(self, folder: Path, what: str, text: bytes) -> int:
        path = folder / "file"
        path.write_bytes(text)
        source = str(path) if self.flag == "--kubeconfig" else ""  # or the missing kubeconfig
        return refused(["once", self.flag, str(path)], source, about=what)


FILES = {
    "kubeconfig": File("--kubeconfig", "KUBECONFIG", kubeconfig("a token"), {USAGE, UNREADABLE}),
    "config": File("--config", "TAKARA_SYNC_CONFIG", SETTINGS, {USAGE}),
}


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest) -> File:
    return FILES[request.param]


def test_a_file_that_is_none_is_refused(file: File, tmp_path: Path, count: Callable[[str, int], None]) -> None:
    wrong, path = texts(yaml.safe_dump(file.good)), tmp_path / "file"
    if file.flag == "--kubeconfig":
        del wrong["laughs"]  # a kubeconfig, with keys that nobody reads
    else:  # which of two sizes is meant is nothing to be guessed
        wrong |= {"a setting twice": b"max-size: 1\nmax-size: 2\n", "in two ways": b"max-size: 1\nmax_size: 2\n"}
    for what, text in wrong.items():
        path.write_bytes(text)
        assert refused(["once", file.flag, str(path)], str(path), about=what) == USAGE, what
    count("broken configurations refused", len(wrong))


def test_a_place_without_a_file_is_refused(file: File, tmp_path: Path, count: Callable[[str, int], None]) -> None:
    found = places(tmp_path)
    if file is FILES["config"]:
        del found["a FIFO"]  # a pipe without a writer is an empty file, and an empty config file is a good one
    for what, path in found.items():
        for argv, environ in (["once", file.flag, str(path)], None), (["once"], {file.variable: str(path)}):
            assert refused(argv, str(path)[:300], environ, what) == USAGE, what
    count("broken configurations refused", 2 * len(found))


def wrong_types(name: str) -> list[tuple[str, bytes]]:
    """Every wrong type at every path of a kubeconfig with such a user, or of a config file with all settings."""
    if name in USERS:
        return list(typed(kubeconfig(name)))
    others = [flag_of(field)[2:] for field in Settings.model_fields]
    alone = [one for flag in others if flag not in SETTINGS for one in typed({flag: "x"})]
    return [*typed(SETTINGS), *alone]


@pytest.mark.parametrize("name", [*USERS, "config"])
def test_a_wrong_type_anywhere_is_refused(
    tmp_path: Path, name: str, long: bool, seed: int, count: Callable[[str, int], None]
) -> None:
    """Where the file is right all the same, what comes next is refused: there is no server, or no kubeconfig."""
    file, every = FILES.get(name, FILES["kubeconfig"]), wrong_types(name)
    chosen = every if long else random.Random(seed).sample(every, 25)  # noqa: S311 - trials, no secrets
    codes = [file.refusal(tmp_path, what, text) for what, text in chosen]
    assert set(codes) <= file.codes
    assert codes.count(USAGE) > len(codes) // 3
    count("broken configurations refused", codes.count(USAGE))


def secret_places(value: Any, path: str = "") -> set[str]:
    """Where TOKEN stands in a file."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {place for key, sub in items for place in secret_places(sub, f"{path}/{key}")}
    return {path} if TOKEN in f"{path}{value}" else set()


def kept(file: File, text: bytes) -> bool:
    """Whether no secret has moved to a place that holds none, a name, say: a message may show it from there."""
    try:
        return secret_places(yaml.safe_load(text)) <= secret_places(file.good)
    except (yaml.YAMLError, ValueError, RecursionError):
        return True


def test_bytes_flipped_anywhere(
    file: File, tmp_path: Path, long: bool, seed: int, count: Callable[[str, int], None]
) -> None:
    mutants = mutated(yaml.safe_dump(file.good).encode(), seed, 5000 if long else 60)
    every = [text for text in mutants if kept(file, text)]
    codes = [file.refusal(tmp_path, f"mutant {number}{'x' * (number % 2)}", text) for number, text in enumerate(every)]
    assert set(codes) <= file.codes
    count("broken configurations refused", codes.count(USAGE))


SERVERS = dict.fromkeys(
    ("bogus", "", "http://", "https://:1", "ftp://x", "https://127.0.0.1:99999", "https://[::1", "//x", " "), USAGE
)
NOBODY_THERE = ("https://127.0.0.1:1/a/path", "http://\x00", f"https://user:{TOKEN}@127.0.0.1:1")
SERVERS |= dict.fromkeys(NOBODY_THERE, UNREADABLE)


@pytest.mark.parametrize("server", SERVERS)
def test_an_address_that_is_none_is_refused(tmp_path: Path, server: str) -> None:
    text = yaml.safe_dump(kubeconfig("a token", server=server)).encode()
    assert FILES["kubeconfig"].refusal(tmp_path, server, text) == SERVERS[server]
