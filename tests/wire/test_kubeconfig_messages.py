"""What is said about a kubeconfig that cannot be used: the file, the key, the next step, and nothing that it holds."""

from __future__ import annotations

import errno
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


EDITS: dict[str, tuple[dict[str, Any], str]] = {
    "a number of contexts": ({"contexts": 5}, r"Expected `array.*`, got `int` - at `\$.contexts`"),
    "a text of clusters": ({"clusters": TOKEN}, r"Expected `array.*`, got `str` - at `\$.clusters`"),
    "a user without a name": ({"users": [{"user": {"token": TOKEN}}]}, "no user someone; it has: "),
    "no current context": ({"current-context": None}, "names no current-context.*--context"),
    "no such context": ({"current-context": "elsewhere"}, "no context elsewhere; it has: here"),
    "no such cluster": ({"clusters": []}, "no cluster wire; it has: none"),
    "no server": ({"clusters": [{"name": "wire", "cluster": {}}]}, "the server of its cluster is no"),
    "no cluster at all": ({"clusters": [{"name": "wire"}]}, "the server of its cluster is no"),
    "no URL": (_cluster(server="bogus"), "the server of its cluster is not an http or https URL"),
    "a bad port": (_cluster(server="http://h:x"), "the server of its cluster is no"),
    "a number for a token": (_user(token=12345678), r"got `int` - at `\$.users\[0\].user.token`"),
    "a token in place of a user": ({"users": [{"name": "someone", "user": TOKEN}]}, r"Expected `object.*\[0\].user`"),
    "a user's token one level up": (
        _cluster() | {"users": [{"name": "someone", "token": TOKEN}]},
        "its user has no credentials",
    ),
    "no base64": (_user(**{"client-certificate-data": f"{TOKEN}!"}), r"base64.* - at `\$.users.*certificate-data`"),
    "no such user": ({"users": [{"name": "other", "user": {"token": TOKEN}}]}, "no user someone; it has: other"),
    "two of one name": (_user() | {"users": _user()["users"] * 2}, "it has two users someone"),
    "a token and a name": (_user(username="u"), "it has token and username together"),
    "groups and nobody to act as": (_user(**{"as-groups": ["g"]}), "it has as-groups without as"),
    "a certificate without a key": (_user(**{"client-certificate": "x"}), "without client-key or client-key-data"),
    "a NUL in a name of a host": (_cluster(**{"tls-server-name": "a\0b"}), "tls-server-name of its cluster is no"),
    "a NUL in a path": (_cluster(**{"certificate-authority": "/\0"}), "certificate-authority .*: no such file"),
    "a port that is none": (_cluster(server="https://h:99999"), "usable port"),
    "no certificate": (_cluster(**{"certificate-authority-data": "bm9uZQ=="}), "certificate-authority holds no"),
    "no key": (
        _user(**{"client-certificate-data": "bm9uZQ==", "client-key-data": "bm9uZQ=="}),
        "client-certificate and client-key are not a pair in PEM",
    ),
    "another kind": ({"kind": "Secret"}, r"at `\$.kind`"),
    "a provider": (_user(token="", **{"auth-provider": {"name": "gcp"}}), "gcp: it is not supported.*gke-gcloud-auth"),
    "an old plugin": (_user(token="", exec={"command": "x", "apiVersion": "v0"}), "an apiVersion other than"),
    "a plugin without a mode": (
        _user(token="", exec={"command": "x", "apiVersion": "client.authentication.k8s.io/v1"}),
        "needs an interactiveMode of Never, IfAvailable, Always",
    ),
}


@pytest.mark.parametrize("what", EDITS)
def test_the_key_is_named(tmp_path: Path, what: str) -> None:
    edit, words = EDITS[what]
    path = kubeconfig(tmp_path, "http://127.0.0.1:1")
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | edit))
    _refused(path, words)


def test_a_pipe_for_a_token_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    _refused(kubeconfig(tmp_path, "http://127.0.0.1:1", {"tokenFile": "pipe"}), "the token of its user is empty")
    _refused(kubeconfig(tmp_path, "http://127.0.0.1:1", {"tokenFile": "absent"}), "no such file")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", closed)
    _refused(kubeconfig(tmp_path, "http://127.0.0.1:1"), "permission denied")


BYTES = {
    "bytes": (b"\x00\x01\xff", "not valid YAML"),
    "UTF-16 without its mark": ("clusters: []".encode("utf-16-le"), "not valid YAML"),
    "an endless alias": (b"contexts: &a [*a]", r"at `\$.contexts\[0\]`"),
    "deep": (b"a: " + b"[" * 5000, "not valid YAML: .*nesting"),
    "a tag of Python": (b"a: !!python/object/apply:os.system ['true']", "not valid YAML at line 1"),
    "a list": (f"- {TOKEN}".encode(), "Expected `object`, got `array`"),
    "a text": (TOKEN.encode(), "Expected `object.*`, got `str`"),
    "a broken line": (f"users:\n- {{token: {TOKEN}\n  ]: : {TOKEN}\n".encode(), "not valid YAML at line 3"),
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
