"""The log: in JSON every line of stderr is one object, whoever wrote it; in text nothing that a terminal obeys."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from datetime import datetime
from typing import Any

import pytest

from takara_sync.cli.logs import JsonFormatter, TextFormatter

SET_UP = "from takara_sync.cli.logs import set_up; import logging, threading, warnings; set_up({!r}, {!r}); "
OURS = "logging.getLogger('takara_sync')"


def stderr_of(code: str, format_name: str = "json", level: str = "info") -> list[str]:
    args = [sys.executable, "-c", SET_UP.format(format_name, level) + code]
    return subprocess.run(args, capture_output=True, text=True, timeout=30, check=False).stderr.splitlines()


def record(message: str, level: int = logging.INFO, **extra: Any) -> logging.LogRecord:
    made = logging.LogRecord("takara_sync", level, __file__, 1, message, (), None)
    made.__dict__.update(extra)
    return made


CAUSES = {
    "our own": f"{OURS}.info('one\\ntwo')",
    "somebody else's": "logging.getLogger('some.library').warning('hm')",
    "the root's": "logging.error('x')",
    "a warning": "warnings.warn('old', DeprecationWarning)",
    "a bug": "1 / 0",
    "a bug, logged": f"\ntry: 1 / 0\nexcept Exception: {OURS}.exception('oh')",
    "a bug in a thread": "t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()",
    "a bug in a finalizer": "exec('class A:\\n def __del__(self): 1 / 0'); A()",
    "half a character": f"{OURS}.info('path ' + chr(0xdcff))",
}


@pytest.mark.parametrize("name", CAUSES)
def test_every_line_is_one_json_object(name: str) -> None:
    lines = [json.loads(line) for line in stderr_of(CAUSES[name])]
    assert len(lines) == 1
    assert {"time", "level", "logger", "message"} <= set(lines[0])


def test_a_line_has_its_fields_and_nothing_else() -> None:
    line = json.loads(JsonFormatter().format(record("m", takara="a/b", result="created", exit=0, other="x")))
    assert line.pop("time")
    assert line == {
        "level": "info",
        "logger": "takara_sync",
        "message": "m",
        "takara": "a/b",
        "result": "created",
        "exit": 0,
    }


def test_the_time_is_utc_with_milliseconds() -> None:
    time = json.loads(JsonFormatter().format(record("m", created=1_700_000_000.1239)))["time"]
    assert time == "2023-11-14T22:13:20.123Z"
    assert datetime.fromisoformat(time).tzinfo


def test_a_traceback_stays_within_its_line() -> None:
    made, bug = record("m"), ValueError("a\nb")
    made.exc_info = (ValueError, bug, None)
    formatted = JsonFormatter().format(made)
    assert "\n" not in formatted
    assert "ValueError: a\nb" in json.loads(formatted)["traceback"]


def test_what_is_no_json_is_told_as_text() -> None:
    assert json.loads(JsonFormatter().format(record("m", changes=[object])))["changes"] == ["<class 'object'>"]


def test_text_has_one_line_and_no_escapes() -> None:
    shown = TextFormatter().format(record("one\ntwo\x1b[31m\u202e three"))
    assert shown.endswith("one two [31m three")


@pytest.mark.parametrize(("level", "lines"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_the_level_is_that_of_our_own_log(level: str, lines: int) -> None:
    code = f"[getattr({OURS}, name)(name) for name in ('debug', 'info', 'warning', 'error')]; logging.info('root')"
    assert len(stderr_of(code, level=level)) == lines


def test_others_are_heard_from_warning_on_only() -> None:
    code = "log = logging.getLogger('kubernetes'); log.debug('token'); log.info('token'); log.warning('hm')"
    assert [json.loads(line)["message"] for line in stderr_of(code, level="debug")] == ["hm"]


def test_nothing_is_said_of_what_the_end_of_the_process_closes() -> None:
    assert stderr_of("import socket; exec('socket.socket()'); warnings.warn('open', ResourceWarning)") == []
