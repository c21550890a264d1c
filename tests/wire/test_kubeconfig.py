"""Where the credentials come from, in which order, and what happens where there are none that can be used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from takara_sync.deadline import Deadline
from takara_sync.errors import ConfigurationError
from takara_sync.kube.api import Api
from takara_sync.kube.connection import Connection
from takara_sync.kube.response import Request
from tests.wire.answers import good
from tests.wire.command import TOKEN, kubeconfig
from tests.wire.credentials import in_pod, only, plugin, printing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.certificates import Certificates
    from tests.wire.server import FaultServer

GET = Request("GET", "/x")


@pytest.fixture
def everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, certificates: Certificates) -> dict[str, Path]:
    """Credentials in all four places, each for a server of its own."""
    places = {}
    for place in ("flag", "env", "home/.kube"):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        places[place] = kubeconfig(folder, f"http://{place[:4]}.example.invalid")
    home = places["home/.kube"].rename(tmp_path / "home/.kube/config")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KUBECONFIG", str(places["env"]))
    in_pod(tmp_path, monkeypatch, "10.0.0.1:443", certificates.authority)
    return places | {"home": home}


def host(kubeconfig: str | None = None, context: str | None = None) -> str:
    found: str = Connection(kubeconfig, context).client().url
    return found


def test_the_order_of_the_places(
    everywhere: dict[str, Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says which was used."""
    caplog.set_level("INFO", "takara_sync")
    found = [host(str(everywhere["flag"])), host()]
    monkeypatch.delenv("KUBECONFIG")
    found += [host(), host(None, "here")]
    everywhere["home"].unlink()
    found.append(host())
    assert found == [
        "http://flag.example.invalid",
        "http://env.example.invalid",
        "http://home.example.invalid",
        "http://home.example.invalid",  # a context is one of a kubeconfig
        "https://10.0.0.1:443",
    ]
    said = [record.message for record in caplog.records if record.levelname == "INFO"]
    assert [message.rpartition(" at ")[2] for message in said] == found
    assert str(everywhere["env"]) in said[1]


def test_several_kubeconfigs_in_the_variable_are_merged(
    everywhere: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tmp_path / "context-only"
    first.write_text("current-context: here\n")
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'absent'}:{first}:{everywhere['env']}")
    assert host() == "http://env.example.invalid"


def test_a_relative_token_file_belongs_to_its_kubeconfig(
    tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    server.on("/x", only(TOKEN))
    monkeypatch.chdir("/")
    api = Api.connect(str(kubeconfig(tmp_path, server, {"tokenFile": "token"})))
    assert api.send(GET, Deadline(20)) == b"{}"
    api.close()


def test_a_pipe_is_read(tmp_path: Path) -> None:
    """As by --kubeconfig <(...) of a shell."""
    text = kubeconfig(tmp_path, "https://piped").read_bytes()
    reading, writing = os.pipe()
    os.write(writing, text)
    os.close(writing)
    assert host(f"/dev/fd/{reading}") == "https://piped"
    os.close(reading)


def test_loading_changes_no_default_of_the_client(tmp_path: Path, server: FaultServer) -> None:
    from kubernetes.client import Configuration  # noqa: PLC0415 - as the product does: it is heavy

    before = Configuration().host
    Connection(str(kubeconfig(tmp_path, server)))
    assert (Configuration().host, Configuration().api_key) == (before, {})


# ------------------------------------------------------------------ credentials that cannot be used


PLUGINS = {
    "fails": "import sys; sys.exit('please log in')",
    "prints no JSON": f"print('{TOKEN}')",
    "gives nothing": "print('{}')",
    "no token": printing("").replace("'token': ''", "'x': 1"),
}


@pytest.mark.parametrize("name", [*PLUGINS, "is missing"])
def test_a_plugin_without_credentials_is_no_anonymous_request(tmp_path: Path, server: FaultServer, name: str) -> None:
    user = plugin(PLUGINS.get(name, ""))
    if name == "is missing":
        user["exec"]["command"] = "no-such-plugin"
    with pytest.raises(ConfigurationError, match=r"exec plugin .* by hand"):
        Api.connect(str(kubeconfig(tmp_path, server, user)))
    assert server.requests == []


@pytest.mark.parametrize("user", [{"token": TOKEN}, plugin(printing(TOKEN))], ids=["token", "plugin"])
def test_who_acts_as_another_has_the_rights_of_that_one(
    tmp_path: Path, server: FaultServer, user: dict[str, Any]
) -> None:
    """https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation"""
    server.on("/x", good())
    api = Api.connect(str(kubeconfig(tmp_path, server, user | {"as": "jane"})))
    api.send(GET, Deadline(20))
    assert [asked.headers["impersonate-user"] for asked in server.requests] == ["jane"]
