"""The installed command, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.server import Request, Server
from tests.support.command import run

COMMAND = str(Path(sys.executable).with_name("takara-sync"))


@dataclass(frozen=True)
class Pass:
    """What one run of the command did: its code, report and log, and what it asked of the server."""

    code: int
    stdout: str
    stderr: str
    requests: list[Request]

    @property
    def report(self) -> dict[str, Any]:
        loaded = json.loads(self.stdout)
        assert isinstance(loaded, dict)
        return loaded

    @property
    def results(self) -> dict[str, str]:
        """Each Takara's name with what became of it."""
        return {takara["name"]: takara["result"] for takara in self.report["takaras"]}

    @property
    def log(self) -> list[dict[str, Any]]:
        """The log, of which every line has to be one JSON object."""
        return [json.loads(line) for line in self.stderr.splitlines()]

    @property
    def writes(self) -> list[Request]:
        """To Takaras and Deployments."""
        return [request for request in self.requests if request.writes and request.resource != "events"]

    @property
    def events(self) -> list[Request]:
        return [request for request in self.requests if request.resource == "events"]

    @property
    def lists(self) -> list[str]:
        return [request.resource for request in self.requests if request.verb == "list"]

    def line_of(self, name: str) -> dict[str, Any]:
        return next(takara for takara in self.report["takaras"] if takara["name"] == name)


class Tool:
    """takara-sync with the credentials of one user, in one namespace or in all of them."""

    def __init__(self, server: Server, namespace: str | None = None) -> None:
        self.server = server
        self.user = server.user()
        self.namespace = namespace

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.server.folder), "KUBECONFIG": str(self.user.kubeconfig)}

    def args(self, *args: str) -> list[str]:
        scope = ("-n", self.namespace) if self.namespace else ()
        return [COMMAND, *args, *scope, "-o", "json"]

    def started(self, *args: str) -> subprocess.Popen[str]:
        """The command as a process that runs; the caller ends it."""
        pipe = subprocess.PIPE
        return subprocess.Popen(self.args(*args), env=self.environment(), stdout=pipe, stderr=pipe, text=True)

    def once(self, *args: str) -> Pass:
        """Run `takara-sync once`; the requests are those of this run, by the server's own account."""
        seen = len(self.server.requests(self.user))
        code, stdout, stderr = self._run("once", *args)
        assert "Traceback" not in stderr, stderr
        assert self.user.token not in stdout + stderr
        return Pass(code, stdout, stderr, self.server.requests(self.user)[seen:])

    def _run(self, *args: str) -> tuple[int, str, str]:
        with self.started(*args) as process:
            stdout, stderr = process.communicate(timeout=120)
        return process.returncode, stdout, stderr

    def converge(self, *args: str) -> Pass:
        """`once`, which has to end well."""
        done = self.once(*args)
        assert done.code == 0, done.stdout + done.stderr
        return done

    def settled(self, *args: str) -> Pass:
        """A pass that must find nothing to do: three lists and no write."""
        done = self.converge(*args)
        assert [request.uri for request in done.writes] == []
        assert sorted(done.lists) == ["deployments", "pods", "takaras"]
        assert len(done.requests) == 3
        return done


class Called(Tool):
    """The same command called in this process, one at a time: where the process is not the subject."""

    def _run(self, *args: str) -> tuple[int, str, str]:
        return run(*self.args(*args)[1:], env=self.environment())
