"""Any command of takara-sync, with what it asked of the server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.server import Server, User
from tests.support.command import run
from tests.tool import Pass, Tool

ON_THE_SIMULATOR = pytest.mark.parametrize("server", ["simulator"], indirect=True)
"""For what does not depend on the server."""

DOCS = Path(__file__).parents[2] / "docs"


def validate(report: dict[str, Any]) -> None:
    """Raise jsonschema's ValidationError where this is not of the form that is published for it."""
    kind = report["schema"].split("/")[1]
    Draft202012Validator(json.loads((DOCS / f"{kind}.schema.json").read_text())).validate(report)


class Commands(Tool):
    """As Tool, for every command and every output, and in this process: the process is the subject of other tests."""

    def __init__(self, server: Server, namespace: str | None = None, user: User | None = None) -> None:
        super().__init__(server, namespace)
        if user is not None:
            self.user = user

    def run(self, *args: str, **variables: str) -> Pass:
        """Run `takara-sync ARGS` in the namespace; it must neither break nor show its token."""
        scope = ("-n", self.namespace) if self.namespace else ()
        seen = len(self.server.requests(self.user))
        done = run(*args, *scope, env=self.environment() | variables)
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        assert self.user.token not in done.stdout + done.stderr
        return Pass(*done, self.server.requests(self.user)[seen:])

    def once(self, *args: str) -> Pass:
        return self.json("once", *args)

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
