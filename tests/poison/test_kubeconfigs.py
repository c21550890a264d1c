"""Kubeconfigs that are broken in every way: exit 2, one line that names the file, and nothing of the file in it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
import tenacity
import yaml

from takara_sync.kube import api as api_module
from tests.poison.configs import mutated, places, texts, typed
from tests.poison.refusing import UNREADABLE, USAGE, refused
from tests.wire.command import TOKEN, Command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.poison.values import Json

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


def config(user: Json, **cluster: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "wire", "cluster": {"server": "https://127.0.0.1:1", "tls-server-name": "x"} | cluster}],
        "users": [{"name": "someone", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "wire", "user": "someone", "namespace": "x"}}],
    }


GOOD = yaml.safe_dump(config(USERS["a token"]))


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_module, "BACKOFF", tenacity.wait_none())


def refusal(folder: Path, what: str, text: bytes) -> int:
    path = folder / "kubeconfig"
    path.write_bytes(text)
    return refused(["once", "--kubeconfig", str(path), "-o", "json"], str(path), about=what)


def test_a_file_that_is_none_is_refused(tmp_path: Path, count: Callable[[str, int], None]) -> None:
    wrong = texts(GOOD)
    del wrong["laughs"]  # a kubeconfig, with keys that nobody reads
    assert {what: refusal(tmp_path, what, text) for what, text in wrong.items()} == dict.fromkeys(wrong, USAGE)
    count("broken configurations refused", len(wrong))


def test_a_place_without_a_file_is_refused(tmp_path: Path, count: Callable[[str, int], None]) -> None:
    found = places(tmp_path)
    for what, path in found.items():
        code = refused(["once", "--kubeconfig", str(path)], str(path)[:300], about=what)
        assert code == USAGE, what
        assert refused(["once"], str(path)[:300], {"KUBECONFIG": str(path)}, what) == USAGE
    count("broken configurations refused", 2 * len(found))


def test_a_path_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / ("x" * 5000))
    assert refused(["once", "--kubeconfig", path], path[:300], about="too long") == USAGE


@pytest.mark.parametrize("user", USERS)
def test_a_wrong_type_anywhere_is_refused_or_is_no_server(
    tmp_path: Path, user: str, long: bool, seed: int, count: Callable[[str, int], None]
) -> None:
    """Nothing of it is a working kubeconfig: there is no server. Where the file is right, that is what is said."""
    every = list(typed(config(USERS[user])))
    random.Random(seed).shuffle(every)  # noqa: S311 - trials, no secrets
    codes = [refusal(tmp_path, what, text) for what, text in (every if long else every[:30])]
    assert set(codes) <= {USAGE, UNREADABLE}
    assert codes.count(USAGE) > len(codes) // 3
    count("broken configurations refused", codes.count(USAGE))


def test_bytes_flipped_anywhere(tmp_path: Path, long: bool, seed: int, count: Callable[[str, int], None]) -> None:
    every = mutated(GOOD.encode(), seed, 20_000 if long else 80)
    codes = [refusal(tmp_path, f"mutant {number}{'x' * (number % 2)}", text) for number, text in enumerate(every)]
    assert set(codes) <= {USAGE, UNREADABLE}
    count("broken configurations refused", codes.count(USAGE))


SERVERS = ("bogus", "", "http://", "https://:1", "ftp://x", "https://127.0.0.1:99999", "https://[::1", "//x", " ")


@pytest.mark.parametrize("server", SERVERS)
def test_an_address_that_is_none_is_refused(tmp_path: Path, server: str) -> None:
    text = yaml.safe_dump(config(USERS["a token"], server=server)).encode()
    assert refusal(tmp_path, server, text) == USAGE


@pytest.mark.parametrize("server", ["https://127.0.0.1:1/a/path", "http://\x00", f"https://user:{TOKEN}@127.0.0.1:1"])
def test_an_address_where_nobody_is_at_home(tmp_path: Path, server: str) -> None:
    assert refusal(tmp_path, server, yaml.safe_dump(config(USERS["a token"], server=server)).encode()) == UNREADABLE


def test_a_sample_as_processes(tmp_path: Path, seed: int) -> None:
    draw, command = random.Random(seed), Command(tmp_path)  # noqa: S311 - trials, no secrets
    wrong = texts(GOOD)
    for what in draw.sample(sorted(wrong), 2):
        (tmp_path / "config").write_bytes(wrong[what])
        done = command.run("once", "--kubeconfig", str(tmp_path / "config"))
        assert (done.code, done.stdout) == (USAGE, ""), what
        assert str(tmp_path / "config") in done.stderr
        assert len(done.stderr.splitlines()) == 1
