"""Exec plugins in time: started once for each token, outside of any request's time, by one thread."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from takara_sync.deadline import Deadline
from takara_sync.errors import Unauthorized
from takara_sync.kube.api import Api
from takara_sync.kube.connection import Connection
from takara_sync.kube.response import Request
from tests.support.certificates import Certificates
from tests.wire.answers import good
from tests.wire.command import Command, kubeconfig
from tests.wire.credentials import plugin, printing
from tests.wire.test_credentials import Clock, header

if TYPE_CHECKING:
    from pathlib import Path

    from tests.wire.server import FaultServer

GET = Request("GET", "/x")
LIFE = 240.0
SHELL = """#!/bin/sh
echo x >> "$0.starts"
exec cat "$0.answer"
"""


class Plugin:
    """A plugin whose tokens live for some time by a clock of the test's own."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.path, self.clock = folder / "plugin", clock
        self.path.write_text(SHELL)
        self.path.chmod(0o700)

    def user(self) -> dict[str, object]:
        return {"exec": plugin("")["exec"] | {"command": str(self.path), "args": []}}

    def answers(self, token: str, life: float = LIFE, **more: str) -> None:
        end = datetime.fromtimestamp(self.clock() + life, UTC).isoformat()
        status = {"token": token, "expirationTimestamp": end} | more
        made = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
        self.path.with_name("plugin.answer").write_text(json.dumps(made))

    def breaks(self) -> None:
        self.path.with_name("plugin.answer").unlink()

    @property
    def starts(self) -> int:
        return self.path.with_name("plugin.starts").read_text().count("x")


@pytest.fixture
def made(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path, Clock())


@pytest.fixture
def connection(made: Plugin, tmp_path: Path) -> Connection:
    made.answers("token-0")
    return Connection(str(kubeconfig(tmp_path, "https://h", made.user())), clock=made.clock)


def test_three_hours_take_one_start_for_each_token(made: Plugin, connection: Connection) -> None:
    """A loop whose passes take 300 s, with a request every 20 s, so that each outlives a token."""
    begin, tokens = made.clock.now, set()
    while made.clock.now < begin + 10_800:
        for _ in range(15):
            made.answers(f"token-{made.clock.now}")
            tokens.add(header(connection))
            made.clock.now += 20
        made.clock.now += 40
    assert made.starts == len(tokens) <= 10_800 / (LIFE - 20) + 1


def test_a_token_is_renewed_before_it_ends(made: Plugin, connection: Connection) -> None:
    made.answers("token-1", 2 * LIFE)
    made.clock.now += LIFE - 11
    assert header(connection) == "Bearer token-0"
    made.clock.now += 2
    assert header(connection) == "Bearer token-1"


def test_all_threads_wait_for_one_start(made: Plugin, connection: Connection) -> None:
    made.answers("token-1", 2 * LIFE)
    made.clock.now += LIFE
    with ThreadPoolExecutor(16) as pool:
        assert {*pool.map(lambda _: header(connection), range(64))} == {"Bearer token-1"}
    assert made.starts == 2


def test_a_plugin_that_fails_early_leaves_the_token_and_later_ends_the_pass(
    made: Plugin, connection: Connection
) -> None:
    made.breaks()
    made.clock.now += LIFE - 5
    assert header(connection) == "Bearer token-0"
    made.clock.now += 6
    with pytest.raises(Unauthorized, match=r"exec plugin .* ended with code 1 .*by hand"):
        connection.client(Deadline(20))
    made.answers("token-1")
    assert header(connection) == "Bearer token-1"


def test_a_new_certificate_is_shown_by_a_new_client(made: Plugin, tmp_path: Path, certificates: Certificates) -> None:
    def pair(subject: str) -> dict[str, str]:
        served = certificates.served("client", subject=subject)
        return {"clientCertificateData": served.certificate.read_text(), "clientKeyData": served.key.read_text()}

    made.answers("", LIFE, **pair("one"))
    connection = Connection(str(kubeconfig(tmp_path, "https://h", made.user())), clock=made.clock)
    before = connection.client()
    made.answers("", 2 * LIFE, **pair("two"))
    made.clock.now += LIFE
    assert connection.client() is not before
    assert connection.client().authorization == ""


def test_a_slow_plugin_takes_no_time_from_a_request(tmp_path: Path, server: FaultServer) -> None:
    server.on("/x", good())
    slow = plugin(printing("t", first="import time; time.sleep(1)"))
    api = Api.connect(str(kubeconfig(tmp_path, server, slow)), request_timeout=0.5)
    assert api.send(GET, Deadline(20)) == b"{}"


def test_a_plugin_answers_with_what_it_is_to_print_only(command: Command, tmp_path: Path, server: FaultServer) -> None:
    """What it says to a person is in no line of the log, which is JSON, and its last line is in the error."""
    says = plugin("import sys; print('one', file=sys.stderr); sys.exit('please log in')")
    ended = command.once(kubeconfig(tmp_path, server, says))
    assert ended.code == 2
    assert "ended with code 1 please log in" in ended.stderr
