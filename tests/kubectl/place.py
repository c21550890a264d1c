"""Where both commands run: the servers, and a folder for each row."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tests.kubectl.recorder import GOOD, Recorder
from tests.poison.refusing import ended
from tests.support.certificates import PROXIED, Certificates, Served

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kubectl.table import Row

_RSA = ("-newkey", "rsa:1024", "-noenc")
_QUICK = ("--request-timeout", "5s", "--pass-timeout", "20s")


class Servers:
    """A server for each certificate that a row asks for; they are made when they are asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = contextlib.ExitStack()
        self._made: dict[str, Recorder] = {}

    def close(self) -> None:
        self._open.close()

    def __getitem__(self, kind: str) -> Recorder:
        if kind not in self._made:
            shown = replace(self._served(kind), clients=self.clients.authority)
            server = Recorder(shown, proxy=True, refuses=int(kind) if kind.isdigit() else 0)
            self._made[kind] = self._open.enter_context(server)
        return self._made[kind]

    @cached_property
    def good(self) -> Certificates:
        return self.authority("ca")

    @cached_property
    def clients(self) -> Certificates:
        return self.authority("clients")

    @cached_property
    def client(self) -> Served:
        """A client's certificate."""
        return self.clients.served("client", subject=f"{GOOD}carl")

    def authority(self, name: str, extensions: str = "ca") -> Certificates:
        folder = self._folder / name
        folder.mkdir()
        return Certificates(folder, extensions)

    def _served(self, kind: str) -> Served:
        good = self.good
        if kind.startswith("ca-"):
            return self.authority(kind, kind).served("without-ids")
        if kind in ("intermediate", "chain", "old-authority"):
            (self._folder / kind).mkdir()
            below = good.below(self._folder / kind, expired=kind == "old-authority")
            served = below.served()
            with served.certificate.open("a") as more:
                more.write(below.authority.read_text())
            return served if kind != "chain" else Served(good.authority, served.certificate, served.key)
        if kind == "itself":
            served = self.authority("itself", "here").served()
            own = self._folder / "itself"
            return Served(own / "ca.crt", own / "ca.crt", own / "ca.key")
        if kind == "stranger":
            served = self.authority(kind).served()
            return Served(good.authority, served.certificate, served.key)
        options = {
            "expired": {"expired": True},
            "common-name": {"extensions": kind, "subject": "127.0.0.1"},
            "rsa": {"key": _RSA},
            "sha1": {"digest": "sha1"},
        }
        plain = "here" if kind == "good" or kind.isdigit() else kind
        return good.served(**options.get(kind, {"extensions": plain}))  # type: ignore[arg-type]  # a table of options


@dataclass
class Place:
    """The folder of one row."""

    folder: Path
    row: Row
    servers: Servers

    @property
    def server(self) -> Recorder:
        return self.servers[self.row.server]

    @property
    def shown(self) -> Served:
        assert self.server.tls
        return self.server.tls

    def prepare(self) -> None:
        """Everything that the row says is there."""
        served, client = self.shown, self.servers.client
        (self.folder / "ca.crt").write_bytes(served.authority.read_bytes())
        (self.folder / "client.crt").write_bytes(client.certificate.read_bytes())
        (self.folder / "client.key").write_bytes(client.key.read_bytes())
        for name, text in ({"config": json.dumps(self.row.config)} | self.row.files).items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.filled(text))
            path.chmod(0o700)
        if self.row.prepare:
            self.row.prepare(self.folder)

    def filled(self, text: str) -> str:
        """`text` with what `@...` stands for."""
        served, client = self.shown, self.servers.client
        for name, path in {"ca": served.authority, "cert": client.certificate, "key": client.key}.items():
            text = text.replace(f"@pem-{name}", json.dumps(path.read_text())[1:-1])
            text = text.replace(f"@{name}", base64.b64encode(path.read_bytes()).decode())
        port = self.server.address.rpartition(":")[2]
        known = {"@url": self.server.url, "@port": port, "@folder": str(self.folder), "@far": PROXIED}
        known["@python"] = sys.executable
        for name, value in known.items():
            text = text.replace(name, value)
        return text

    @property
    def env(self) -> dict[str, str]:
        """The variables of both commands; HOME is the folder."""
        base = {"HOME": "@folder", "KUBECONFIG": "@folder/config", "PATH": os.environ["PATH"]}
        return {name: self.filled(value) for name, value in (base | self.row.env).items() if value != "@gone"}

    def outcome(self) -> set[str]:
        """As whom the server was reached since the last time; empty for not at all."""
        seen = set(self.server.seen)
        self.server.seen.clear()
        return seen

    def kubectl(self, command: Path) -> tuple[set[str], str]:
        """What came of kubectl, and what it said."""
        argv = [str(command), *map(self.filled, self.row.argv), "get", "takaras", f"--cache-dir={self.folder}/cache"]
        quiet = subprocess.DEVNULL
        done = subprocess.run(
            argv, env=self.env, cwd=self.folder, stdin=quiet, capture_output=True, timeout=30, check=False
        )
        return self.outcome(), done.stderr.decode()

    def takara_sync(self) -> tuple[set[str], int, str]:
        """What came of takara-sync, its exit code, and what it said."""
        before = os.getcwd()  # noqa: PTH109 - the command starts in the folder, as kubectl does
        os.chdir(self.folder)
        try:
            argv = ["check", "-o", "json", *_QUICK, *map(self.filled, self.row.argv)]
            code, stdout, stderr = ended(argv, self.env | {"TAKARA_SYNC_LOG_FORMAT": "text"})
        finally:
            os.chdir(before)
        return self.outcome(), code, stdout + stderr
