"""Standard streams that are closed, full, of another encoding, or that nobody reads any more."""

from __future__ import annotations

import functools
import json
import subprocess
from collections.abc import Iterator

import pytest
import yaml

from tests.contract.simulated import Simulated
from tests.support.command import run
from tests.tool import COMMAND, Tool
from tests.world import World, takara

COMMANDS = ["manifests", "--version", "once --kubeconfig /nowhere"]
IMAGE = "gr\u00fc\u00df-\U0001f600"
UTF_8 = {"PYTHONIOENCODING": "utf-8"}
ASCII = {"PYTHONIOENCODING": "ascii"}
C = {"LANG": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


@functools.cache
def shell(line: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    command = ["bash", "-c", line.replace("takara-sync", COMMAND)]
    return subprocess.run(command, env={"PATH": "/usr/bin:/bin"} | variables, capture_output=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_changes_no_exit_code(command: str, closed: str) -> None:
    assert shell(f"takara-sync {command} {closed}").returncode == shell(f"takara-sync {command}").returncode


def test_a_full_disk_is_one_sentence() -> None:
    done = shell("takara-sync manifests > /dev/full")
    assert done.returncode == 1
    assert b"could not be written: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_report_for_a_full_disk_is_one_sentence_and_no_success(kubeconfig: str) -> None:
    variables = {"KUBECONFIG": kubeconfig, "TAKARA_SYNC_LOG_FORMAT": "text", "TAKARA_SYNC_LOG_LEVEL": "warning"}
    for command in ("once", "plan", "check"):
        done = shell(f"takara-sync {command} -n default > /dev/full", **variables)
        assert done.returncode == 1
        assert done.stderr.count(b"\n") == done.stderr.count(b"No space left on device") == 1, done.stderr


def test_a_loop_whose_reader_is_gone_ends(kubeconfig: str) -> None:
    done = shell(
        "set -o pipefail; takara-sync --interval 0.1 -n default --log-level warning | head -1", KUBECONFIG=kubeconfig
    )
    assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"", 1)


def test_a_reader_who_has_had_enough_is_no_error() -> None:
    done = shell("set -o pipefail; takara-sync manifests | head -1")
    assert (done.returncode, done.stderr) == (0, b"")


# ------------------------------------------------------------------ characters that the encoding lacks


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a cluster where somebody has set an image with such characters."""
    with Simulated(tmp_path_factory.mktemp("umlaut")) as simulated:
        world, tool = World(simulated, simulated.namespace()), Tool(simulated)
        world.create(takara("one", 1))
        assert run("once", env=tool.environment()).code == 0
        container = {"name": "takara", "image": IMAGE}
        world.merge_deployment("one", {"spec": {"template": {"spec": {"containers": [container]}}}})
        yield str(tool.user.kubeconfig)


@pytest.mark.parametrize(
    ("command", "variables"),
    [("once --dry-run", ASCII), ("plan", C), (f"manifests --image '{IMAGE}'", ASCII)],
    ids=["once", "plan", "manifests"],
)
def test_a_character_that_the_encoding_lacks_is_escaped(
    kubeconfig: str, command: str, variables: dict[str, str]
) -> None:
    variables = variables | {"KUBECONFIG": kubeconfig, "TAKARA_SYNC_LOG_FORMAT": "text"}
    done = shell(f"takara-sync {command}", **variables)
    whole = shell(f"takara-sync {command}", **variables | UTF_8)
    assert done.returncode == whole.returncode
    assert len(done.stdout.splitlines()) == len(whole.stdout.splitlines())
    if command.startswith("manifests"):
        assert list(yaml.safe_load_all(done.stdout)) == list(yaml.safe_load_all(whole.stdout))
    else:
        assert r"gr\u00fc\u00df-\ud83d\ude00 -> busybox" in done.stdout.decode("ascii")
        assert f"{IMAGE} -> busybox" in whole.stdout.decode()
        found = json.loads(shell(f"takara-sync {command} -o json", **variables).stdout.decode("ascii"))
        assert IMAGE in [change["old"] for change in found["takaras"][0]["changes"]]


def test_so_it_is_in_the_log_and_in_an_error() -> None:
    done = shell(f"takara-sync once --kubeconfig {IMAGE} --log-format text", **ASCII)
    assert (done.returncode, r"at gr\u00fc\u00df-" in done.stderr.decode("ascii")) == (2, True)
