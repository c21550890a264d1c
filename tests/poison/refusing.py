"""The command in this process, for what it refuses before it has done anything."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from typing import TYPE_CHECKING
from unittest import mock

from takara_sync.cli import heartbeat
from takara_sync.cli.errors import told
from takara_sync.cli.main import _main
from takara_sync.cli.stop import Stop
from tests.poison.outputs import check_json, check_text, logging_as
from tests.wire.command import TOKEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

USAGE, UNREADABLE = 2, 3
_LINE_MAX = 1100  # a message of 1 KiB, with what the log puts before it
_QUICK = ("--request-timeout", "300ms", "--pass-timeout", "30s")


def ended(argv: Sequence[str], environ: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """The exit code of the command, and what it wrote to stdout and to stderr."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(stdout))
        stack.enter_context(contextlib.redirect_stderr(stderr))
        stack.enter_context(mock.patch.dict(os.environ, {"HOME": "/nowhere"} | dict(environ or {}), clear=True))
        stack.enter_context(mock.patch.object(heartbeat, "_post"))  # nothing leaves, and no thread asks for a name
        stack.enter_context(logging_as("json"))
        code = told(argv, lambda prog: _main(argv, prog, Stop()))
    return code, stdout.getvalue(), stderr.getvalue()


def refused(argv: Sequence[str], source: str, environ: Mapping[str, str] | None = None, about: str = "") -> int:
    """The exit code, which has to be 2, or 3 where there is no server; 0 where it was not refused at all.

    The message is one line that names the source and what to do; nothing is told of what stands there.
    """
    form = "text" if len(about) % 2 else "json"
    code, stdout, stderr = ended([*argv, *_QUICK, "--log-format", form], environ)
    where = f"{about}: {code} {stdout[-300:]} {stderr[-2000:]}"
    assert code in (0, USAGE, UNREADABLE), where
    assert TOKEN not in stdout + stderr, where
    assert "Traceback" not in stderr, where
    (check_json if form == "json" else check_text)(about, stderr)
    if code == USAGE:
        line = stderr.splitlines()[-1]
        said = json.loads(line)["message"] if form == "json" else line
        assert stdout == "", where
        assert source in said, f"{source} is not named: {where}"
        assert re.search(r"[.?] [A-Z]", said), f"no next step: {where}"
        assert len(said.encode()) <= _LINE_MAX, where
    return code
