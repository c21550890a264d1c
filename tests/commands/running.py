"""Any command of takara-sync, as a process of its own, with what it asked of the server."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from tests.tool import COMMAND, Pass, Tool

if TYPE_CHECKING:
    from tests.server import Server, User

DOCS = Path(__file__).parents[2] / "docs"


def validate(report: dict[str, Any]) -> None:
    """Raise jsonschema's ValidationError where this is not of the form that is published for it."""
    kind = report["schema"].split("/")[1]
    Draft202012Validator(json.loads((DOCS / f"{kind}.schema.json").read_text())).validate(report)


class Commands(Tool):
    """As Tool, for every command and every output."""

    def __init__(self, server: Server, namespace: str | None = None, user: User | None = None) -> None:
        super().__init__(server, namespace)
        if user is not None:
            self.user = user

    def run(self, *args: str, program: str = COMMAND, **variables: str) -> Pass:
        """Run `takara-sync ARGS` in the namespace; it must neither break nor tell its token."""
        scope = ("-n", self.namespace) if self.namespace else ()
        seen = len(self.server.requests(self.user))
        environment = self.environment() | variables
        done = subprocess.run(
            [program, *args, *scope], env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        assert self.user.token not in done.stdout + done.stderr
        return Pass(done.returncode, done.stdout, done.stderr, self.server.requests(self.user)[seen:])

    def json(self, *args: str, **variables: str) -> Pass:
        """Run it with a report for machines, whose exit code has to be the process's."""
        done = self.run(*args, "-o", "json", **variables)
        assert done.report["exit"] == done.code, done.stdout
        validate(done.report)
        return done

    def reading(self, *args: str) -> Pass:
        """`json` of a command that only reads, by the server's own record."""
        done = self.json(*args)
        assert {request.method for request in done.requests} <= {"GET"}
        return done
