"""What is said about a kubeconfig that cannot be used: the file, the key, the next step, and nothing that it holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from takara_sync.errors import ConfigurationError
from takara_sync.kube.api import Api
from tests.wire.command import TOKEN, kubeconfig

if TYPE_CHECKING:
    from pathlib import Path


def _user(**keys: Any) -> dict[str, Any]:
    return {"users": [{"name": "someone", "user": {"token": TOKEN} | keys}]}


def _cluster(**keys: Any) -> dict[str, Any]:
    return {"clusters": [{"name": "wire", "cluster": {"server": "https://h"} | keys}]}


NO_BASE64 = {
    "users": [{"name": "someone", "user": {"token": TOKEN, "client-certificate-data": f"{TOKEN}!", "client-key": ""}}],
    "clusters": [{"name": "wire", "cluster": {"server": "https://h", "certificate-authority-data": "x"}}],
}
EDITS: dict[str, tuple[dict[str, Any], str]] = {
    "a number of contexts": ({"contexts": 5}, r"Expected `array.*`, got `int` - at `\$.contexts`"),
    "a text of clusters": ({"clusters": TOKEN}, r"Expected `array.*`, got `str` - at `\$.clusters`"),
    "a user without a name": (
        {"users": [{"user": {"token": TOKEN}}]},
        r"missing required field `name`.*`\$.users\[0\]`",
    ),
    "no current context": ({"current-context": None}, "names no current-context.*--context"),
    "no such context": ({"current-context": "elsewhere"}, "no context elsewhere; it has: here"),
    "no such cluster": ({"clusters": []}, "no cluster wire; it has: none"),
    "no server": ({"clusters": [{"name": "wire", "cluster": {}}]}, "cluster wire: .*missing required field `server`"),
    "no cluster at all": ({"clusters": [{"name": "wire"}]}, "cluster wire: Expected `object`, got `null`"),
    "no URL": ({"clusters": [{"name": "wire", "cluster": {"server": "bogus"}}]}, "wire is no http or https URL"),
    "a bad port": ({"clusters": [{"name": "wire", "cluster": {"server": "http://h:x"}}]}, "wire is no http"),
    "a number for a token": (
        {"users": [{"name": "someone", "user": {"token": 12345678}}]},
        r"user someone: .*\$.token",
    ),
    "a token in place of a user": ({"users": [{"name": "someone", "user": TOKEN}]}, "user someone: Expected `object`"),
    "a user's token one level up": (
        {"users": [{"name": "someone", "token": TOKEN}]},
        "user someone: Expected `object`",
    ),
    "no base64": (NO_BASE64, "-data is not base64"),
    "no such user": ({"users": [{"name": "other", "user": {"token": TOKEN}}]}, "no user someone; it has: other"),
    "groups to act as": (_user(**{"as": "jane", "as-groups": ["g"]}), "user someone has as-groups, .*only `as`"),
    "a NUL in a name of a host": (
        _cluster(**{"tls-server-name": "a\0b"}),
        "tls-server-name of cluster wire is no name",
    ),
    "a name of a host that is none": (_cluster(**{"tls-server-name": "x" * 300}), "tls-server-name of cluster wire"),
    "a NUL in a path": (_cluster(**{"certificate-authority": "/\0"}), "certificate-authority|File does not exist"),
    "a port that is none": (_cluster(server="https://h:99999"), "usable port"),
    "no certificate": (_cluster(**{"certificate-authority-data": "bm9uZQ=="}), "certificate-authority holds no such"),
}


@pytest.mark.parametrize("what", EDITS)
def test_the_key_is_named(tmp_path: Path, what: str) -> None:
    edit, words = EDITS[what]
    path = kubeconfig(tmp_path, "http://127.0.0.1:1")
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | edit))
    _refused(path, words)


def test_a_pipe_for_a_token_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    _refused(kubeconfig(tmp_path, "http://127.0.0.1:1", {"tokenFile": "pipe"}), "tokenFile: pipe is no regular file")


BYTES = {
    "bytes": (b"\x00\x01\xff", "no text has"),
    "UTF-16 without its mark": ("clusters: []".encode("utf-16-le"), "no text has"),
    "an endless alias": (b"contexts: &a [*a]", "huge"),
    "a billion laughs": (
        b"a: &a [x, x, x, x, x, x, x, x, x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (c + 1, c + 1, b", ".join([b"*%c" % c] * 9)) for c in range(97, 106)),
        "huge",
    ),
    "deep": (b"a: " + b"[" * 5000, "too deeply"),
    "a tag of Python": (b"a: !!python/object/apply:os.system ['true']", "no YAML at line 1"),
    "large": (b"#" * (3 * 2**20), "larger than 2 MiB"),
    "a list": (b"- 1", "Expected `object`, got `array`"),
    "a broken line": (f"users:\n- {{token: {TOKEN}\n  ]: : {TOKEN}\n".encode(), "no YAML at line 3"),
}


@pytest.mark.parametrize("what", BYTES)
def test_a_file_that_is_no_kubeconfig(tmp_path: Path, what: str) -> None:
    text, words = BYTES[what]
    path = tmp_path / "kubeconfig"
    path.write_bytes(text)
    _refused(path, words)


def _refused(path: Path, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as raised:
        Api.connect(str(path))
    assert str(path) in raised.value.message
    assert TOKEN not in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.hint
