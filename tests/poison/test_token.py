"""Our own token comes back from the server in many ways, and is in no output and in no status."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest

from takara_sync.kube import transport
from tests.poison.values import NASTY
from tests.wire import command as command_module
from tests.wire.answers import good, page, status
from tests.wire.command import TOKEN, Called, Command, kubeconfig
from tests.wire.server import FaultServer, Wire

ECHO = f"{NASTY} you said Authorization: Bearer {TOKEN} and {TOKEN.upper()}"
ANSWERS: dict[str, tuple[str, str, Callable[[Wire], None]]] = {
    "403 for a list": ("*/takaras", "GET", status(403, "Forbidden", ECHO)),
    "401 for a list": ("*/deployments", "GET", status(401, "Unauthorized", ECHO)),
    "403 for an apply": ("*/deployments/*", "PATCH", status(403, "Forbidden", ECHO)),
    "422 for a status": ("*/status", "PATCH", status(422, "Invalid", ECHO, [{"field": "x", "message": ECHO}])),
    "500 again and again": ("*/pods", "GET", status(500, "InternalError", ECHO)),
    "500 for an apply": ("*/deployments/*", "PATCH", status(500, "", ECHO)),
    "a page of a proxy": ("*/takaras", "GET", good(f"<html>{ECHO}</html>".encode(), 502, Content_Type="text/html")),
    "a page of a proxy with 200": ("*/takaras", "GET", good(f"<html>{ECHO}</html>".encode())),
    "another kind": ("*/takaras", "GET", good({"kind": ECHO, "items": []})),
    "a Takara": (
        "*/takaras",
        "GET",
        page(
            "TakaraList",
            {
                "metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1"},
                "spec": {"size": ECHO},
            },
            {"metadata": {"name": f"b {ECHO}", "namespace": "default", "uid": "u"}, "spec": {"size": 1}},
        ),
    ),
}


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as server:
        server.create_takaras("a")
        yield server


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Called(tmp_path)


@pytest.mark.parametrize("what", ANSWERS)
def test_a_server_that_echoes_the_token(server: FaultServer, command: Command, tmp_path: Path, what: str) -> None:
    """`Command.end` looks for the token in all that was written; what is sent is looked at here."""
    path, method, answer = ANSWERS[what]
    server.on(path, answer, method=method)
    config = kubeconfig(tmp_path, server)
    form = ("-o", "json") if len(what) % 2 else ("-o", "wide", "--log-format", "text")
    ended = command.run("once", "--kubeconfig", str(config), *form, "--pass-timeout", "3s", "--log-level", "debug")
    assert ended.code in (0, 1, 3, 6)
    assert TOKEN.encode() not in b"".join(one.body for one in server.asked())
    assert {char for char in ended.stdout + ended.stderr if not char.isprintable()} <= {"\n"}
    assert json.loads(ended.stdout) if "json" in form else ended.stdout


def test_a_takara_with_the_tokens_text_in_its_name_works(server: FaultServer, command: Command, tmp_path: Path) -> None:
    """The token is masked in messages, never in what was read. The output has to name this Takara."""
    server.create_takaras(TOKEN)
    args = ("once", "--kubeconfig", str(kubeconfig(tmp_path, server)), "-o", "json")
    with mock.patch.object(command_module, "TOKEN", "another"):
        ended = command.run(*args)
    assert ended.code == 0
    assert [(one["name"], one["result"]) for one in ended.report["takaras"]] == [("a", "created"), (TOKEN, "created")]
    assert [one.path.rpartition("/")[2] for one in server.asked("*/deployments/*", "PATCH")].count(TOKEN) == 1


def test_a_token_that_is_not_masked_is_found(
    server: FaultServer, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seeded bug of this file: no response knows the token."""
    monkeypatch.setattr(transport, "_secret", lambda _: "")
    with pytest.raises(AssertionError):
        test_a_server_that_echoes_the_token(server, command, tmp_path, "403 for a list")
