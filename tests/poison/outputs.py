"""Everything that the command writes about a pass, captured in process, and what has to be true of all of it."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any
from unittest import mock

from takara_sync.cli import check, loop, plan
from takara_sync.cli.settings import Settings
from takara_sync.cli.stop import Stop
from tests.poison.world import World
from tests.support.command import Terminal, heartbeats, own_log

_OWN_COLOURS = re.compile(r"\x1b\[(?:0|1|3[1235]|9[01])m")


Said = dict[str, str]
"""Everything that was written, by the name of the place; what is JSON has a name that begins with that."""


class Recorder:
    """Runs the commands on a world and keeps what they write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: Said = {}
        self.codes: dict[str, int] = {}

    def once(self, world: World, output: str, *, terminal: bool) -> None:
        """`once`, with its log in a form that goes with the output."""
        place = f"{output}{' on a terminal' if terminal else ''}"
        self._run(world, place, loop, "run_once", output, terminal=terminal)

    def commands(self, world: World, output: str, *, terminal: bool) -> None:
        place = f"{output}{' on a terminal' if terminal else ''}"
        self._run(world, f"{place}: plan", plan, "run", output, terminal=terminal)
        self._run(world, f"{place}: check", check, "run", output, terminal=terminal)

    def _run(self, world: World, place: str, module: Any, function: str, output: str, *, terminal: bool) -> None:
        stdout, stderr = (Terminal(), Terminal()) if terminal else (io.StringIO(), io.StringIO())
        message = self.folder / "termination-log"
        message.touch()
        settings = Settings(
            output=output,  # type: ignore[arg-type]
            allow_templates=True,
            concurrency=2,
            heartbeat_url="http://heartbeat.invalid",  # type: ignore[arg-type]
            termination_message_path=str(message),
        )
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.redirect_stdout(stdout))
            stack.enter_context(contextlib.redirect_stderr(stderr))
            stack.enter_context(own_log("json" if output == "json" else "text"))
            stack.enter_context(mock.patch.object(module, "api_of", return_value=world))
            beats = stack.enter_context(heartbeats())
            self.codes[place] = int(getattr(module, function)(settings, Stop()))
        self.said |= {f"{place}: stdout": stdout.getvalue(), f"{place}: log": stderr.getvalue()}
        self.said |= {f"text of {place}: termination message": message.read_text()}
        self.said |= {f"text of {place}: heartbeat {number}": beat for number, beat in enumerate(beats)}
        message.unlink()

    def check(self) -> None:
        """Raise AssertionError where anything of it could move a cursor, break a line or is no JSON."""
        for place, text in self.said.items():
            assert "Traceback" not in text, f"{place}: {text}"
            (check_json if place.startswith("json") else check_text)(place, text)


def check_text(place: str, text: str) -> None:
    """A text for people: printable lines, and the colours that we put in ourselves."""
    bare = _OWN_COLOURS.sub("", text)
    odd = {char for char in bare if not char.isprintable() and char != "\n"}
    assert not odd, f"{place}: {sorted(map(ascii, odd))} in {bare[:2000]!r}"


def check_json(place: str, text: str) -> None:
    """Each line is one JSON object, and nothing in it is more than a printable character."""
    assert text == "" or text.endswith("\n"), place
    for line in text[:-1].split("\n") if text else ():
        assert isinstance(json.loads(line), dict), f"{place}: {line}"
        odd = {char for char in line if not char.isprintable()}
        assert not odd, f"{place}: {sorted(map(ascii, odd))} in {line[:2000]!r}"
        line.encode()
