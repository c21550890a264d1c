"""A server that cannot be read is one sentence with a hint and exit code 3, in each command and form."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands.running import validate
from tests.control_plane.server import ControlPlane
from tests.support.backoff import no_backoff
from tests.support.command import run

__all__ = ["no_backoff"]

WRONG = "no-such-token"


@pytest.fixture(scope="module")
def dead() -> Iterator[str]:
    """An address where nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        yield f"https://127.0.0.1:{unused.getsockname()[1]}"


def _unvouched(config: dict[str, Any], _dead: str) -> None:
    del config["clusters"][0]["cluster"]["certificate-authority-data"]


def _dead_port(config: dict[str, Any], dead: str) -> None:
    config["clusters"][0]["cluster"]["server"] = dead


def _wrong_token(config: dict[str, Any], _dead: str) -> None:
    config["users"][0]["user"] = {"token": WRONG}


FAILURES: dict[str, tuple[Callable[[dict[str, Any], str], None], tuple[str, str]]] = {
    "a dead port": (_dead_port, ("connection refused", "Is the API server up")),
    "a wrong token": (_wrong_token, ("401", "Check the user of the kubeconfig context")),
    "a certificate that nobody vouches for": (_unvouched, ("certificate", "certificate-authority")),
}


@pytest.mark.parametrize("command", ["check", "plan", "once"])
@pytest.mark.parametrize("failure", FAILURES)
def test_it_is_named(control_plane: ControlPlane, tmp_path: Path, dead: str, failure: str, command: str) -> None:
    change, words = FAILURES[failure]
    config = yaml.safe_load(control_plane.user().kubeconfig.read_text())
    change(config, dead)
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))

    text, machine = (run(command, "--kubeconfig", str(path), "-o", form) for form in ("text", "json"))

    assert text.code == machine.code == 3
    report = json.loads(machine.stdout)
    validate(report)
    for said in (text.stdout, text.stderr, report["error"]["message"] + report["error"]["hint"]):
        assert [word for word in words if word not in said] == []
        assert WRONG not in said
