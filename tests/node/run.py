"""The outside of a run: prepares what needs the network, starts the inside, and cleans up after it."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from tests.control_plane.build import HOW_TO_BUILD, assets
from tests.control_plane.waiting import wait_until
from tests.node import machine
from tests.node.images import PRODUCT, Images
from tests.node.machine import CannotRunError, PreparationError
from tests.node.timing import say

ROOT = Path(__file__).parents[2]
FAILED = 1
SKIPPED = 77  # no code of pytest's; automake's for the same
_LINE = "=" * 100
_CLEAN_SECONDS = 20.0


def main(pytest_arguments: list[str]) -> int:
    """pytest's exit code; 1 when the node could not be made; 77 when this machine cannot run one at all."""
    signal.signal(signal.SIGTERM, _end)
    try:
        return _run(pytest_arguments)
    except CannotRunError as error:
        told = f"SKIPPED: the tests on a real node; this machine cannot run one: {error}"
        sys.stderr.write(f"{_LINE}\n{told}\n{_LINE}\n")
        return SKIPPED
    except (PreparationError, TimeoutError) as error:
        sys.stderr.write(f"FAILED: {error}\n")
        return FAILED


def _run(pytest_arguments: list[str]) -> int:
    machine.install_packages()
    machine.check()
    if assets() is None:
        raise PreparationError(f"there is no control plane; {HOW_TO_BUILD}")
    before = machine.inventory()
    with tempfile.TemporaryDirectory(prefix="takara-sync-node-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        say("building the images")
        Images(folder).build()
        with _cgroups(folder.name):
            say("starting the node")
            code = _inside(folder, pytest_arguments)
        _check_clean(folder, before)
    return code


def _inside(folder: Path, pytest_arguments: list[str]) -> int:
    """Runs pid 1 of the node and returns its code; killed when we are ended."""
    inside = [sys.executable, "-m", "tests.node.inside", str(folder), "--image", PRODUCT, *pytest_arguments]
    # A session of its own: Ctrl-C is for us.
    with subprocess.Popen([*machine.namespaces(network=True), *inside], cwd=ROOT, start_new_session=True) as node:
        try:
            return node.wait()
        except BaseException:
            node.kill()  # a SIGTERM would be ignored; with this one goes the other end, and so everything
            raise


@contextlib.contextmanager
def _cgroups(name: str) -> Iterator[None]:
    """The one thing that does not go with the namespaces."""
    machine.make_cgroups(name)
    try:
        yield
    finally:
        wait_until(lambda: _busy(name), within=_CLEAN_SECONDS, every=0.1)


def _busy(name: str) -> str:
    try:
        machine.remove_cgroups(name)
    except OSError as error:  # the processes were killed, and some are not gone yet
        return str(error)
    return ""


def _check_clean(folder: Path, before: list[str]) -> None:
    namespaces = (folder / "namespaces").read_text().split()
    wait_until(
        lambda: ", ".join(machine.left_behind(folder.name, namespaces, before)), within=_CLEAN_SECONDS, every=0.5
    )
    say("everything is gone: processes, mounts, links, rules and cgroups are as before")


def _end(_signal: int, _frame: object) -> NoReturn:
    """Ends the run in order: every `with` cleans up, and a second signal does not keep it from that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + signal.SIGTERM)
