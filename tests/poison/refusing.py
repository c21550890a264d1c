"""The command in this process, for what it refuses before it has done anything."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from tests.poison.outputs import check_json, check_text
from tests.support.command import Done, heartbeats, run
from tests.wire.command import TOKEN

USAGE, UNREADABLE = 2, 3
_LINE_MAX = 1100  # a message of 1 KiB, with what the log puts before it
_QUICK = ("--request-timeout", "300ms", "--pass-timeout", "30s")


def ended(argv: Sequence[str], environ: Mapping[str, str] | None = None) -> Done:
    """The exit code of the command, and what it wrote to stdout and to stderr."""
    with heartbeats():
        return run(*argv, env={"HOME": "/nowhere"} | dict(environ or {}))


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
