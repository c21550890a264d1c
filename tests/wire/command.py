"""The command as a process of its own, and the kubeconfig that it is given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.command import NO_AUTHORITIES, run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.wire.server import FaultServer

TOKEN = "s3cr3t-t0k3n-0123456789"  # noqa: S105 - opens nothing
QUICK = ("--request-timeout", "500ms", "--pass-timeout", "4s", "--log-level", "debug")
USAGE = 2
MODULE = (sys.executable, "-m", "takara_sync")


def kubeconfig(folder: Path, server: FaultServer | str, user: dict[str, Any] | None = None, **cluster: Any) -> Path:
    """A file whose only context leads to `server`, with TOKEN unless `user` says otherwise."""
    url = server if isinstance(server, str) else server.url
    trusted = {} if isinstance(server, str) or server.tls is None else {"certificate-authority": server.tls.authority}
    cluster = {name: str(value) for name, value in trusted.items()} | cluster
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "wire", "cluster": {"server": url} | cluster}],
        "users": [{"name": "someone", "user": {"token": TOKEN} if user is None else user}],
        "contexts": [{"name": "here", "context": {"cluster": "wire", "user": "someone"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


@dataclass(frozen=True)
class Ended:
    code: int
    stdout: str
    stderr: str

    @property
    def log(self) -> list[dict[str, Any]]:
        """The log, of which every line has to be one JSON object."""
        lines = [json.loads(line) for line in self.stderr.splitlines()]
        assert all(isinstance(line, dict) for line in lines)
        return lines

    def warnings(self, words: str = "") -> list[str]:
        found = [line["message"] for line in self.log if line["level"] == "warning"]
        return [message for message in found if words in message]

    @property
    def report(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.stdout)
        return loaded


def checked(ended: Ended, args: str) -> Ended:
    """Whatever went wrong: no secret, no bug, no broken log line."""
    assert TOKEN not in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr, ended.stderr
    assert ended.code == USAGE or "text" in args or ended.log is not None  # every line was parsed
    return ended


class Command:
    """takara-sync with an environment of its own; HOME is an empty folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_PROXY": ""} | NO_AUTHORITIES

    def start(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen([*MODULE, *args], env=self.env | dict(env or {}), stdout=pipe, stderr=pipe, text=True)

    def run(self, *args: str, patience: float = 30, env: Mapping[str, str] | None = None) -> Ended:
        return self.end(self.start(*args, env=env), patience)

    def end(self, process: subprocess.Popen[str], seconds: float = 30) -> Ended:
        """What it wrote until it ended by itself; see `checked`."""
        try:
            stdout, stderr = process.communicate(timeout=seconds)
        finally:
            process.kill()
        return checked(Ended(process.returncode, stdout or "", stderr), str(process.args))

    def once(self, config: Path, *args: str, **env: str) -> Ended:
        """`once` with a JSON report, quick timeouts and the most talkative log."""
        return self.run("once", "--kubeconfig", str(config), "-o", "json", *QUICK, *args, env=env)


class Called(Command):
    """takara-sync called in this process, one at a time: where the process is not the subject."""

    def run(self, *args: str, patience: float = 30, env: Mapping[str, str] | None = None) -> Ended:  # noqa: ARG002 - nobody could end it
        return checked(Ended(*run(*args, env=self.env | dict(env or {}))), str(args))
