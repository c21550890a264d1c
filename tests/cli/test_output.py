"""Standard streams that are closed, full, or that nobody reads any more."""

from __future__ import annotations

import subprocess

import pytest

from tests.tool import COMMAND

COMMANDS = [
    "manifests",
    "--version",
    "once --kubeconfig /nowhere",
    "check --kubeconfig /nowhere",
    "manifests --mode loop",
]


def shell(line: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", line.replace("takara-sync", COMMAND)]
    return subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_changes_no_exit_code(command: str, closed: str) -> None:
    expected = shell(f"takara-sync {command}").returncode
    assert shell(f"takara-sync {command} {closed}").returncode == expected


def test_a_full_disk_is_one_sentence() -> None:
    done = shell("takara-sync manifests > /dev/full")
    assert done.returncode == 1
    assert "could not be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_who_has_had_enough_is_no_error() -> None:
    done = shell("set -o pipefail; takara-sync manifests | head -1")
    assert (done.returncode, done.stderr) == (0, "")
