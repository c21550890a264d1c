"""Prometheus and its companions, from PATH or from a cache folder; `python -m tests.monitoring` fills that folder.

Prometheus, promtool, the Pushgateway and node exporter come from Debian's packages. Nothing is installed and no service
starts: the packages are unpacked, and the tests start what they need. kube-state-metrics is built from its Go module,
which takes minutes, so only `python -m tests.monitoring kube-state-metrics` does that. pytest itself fetches nothing.
Standard library only, so that it works before anything is installed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.control_plane.build import toolchain

PACKAGES = ("prometheus", "prometheus-pushgateway", "prometheus-node-exporter")
NAMES = {
    "prometheus": "prometheus",
    "promtool": "promtool",
    "pushgateway": "prometheus-pushgateway",
    "node-exporter": "prometheus-node-exporter",
}
"""Our name of each program of the packages, and its name in Debian."""

KUBE_STATE_METRICS = "kube-state-metrics"
HOW_TO_FETCH = "get it with: python -m tests.monitoring [kube-state-metrics]"

_SOURCES = Path(__file__).parent
_MODULE = "k8s.io/kube-state-metrics/v2"


class FetchError(Exception):
    """A program could not be had; the message says which and why."""


def cache_folder() -> Path:
    """Where the programs are; it need not exist."""
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    pinned = "".join((_SOURCES / name).read_text() for name in ("go.mod", "go.sum"))
    name = hashlib.sha256(f"{platform.machine()} {PACKAGES} {pinned}".encode()).hexdigest()[:16]
    return Path(caches).expanduser() / "takara-sync" / "monitoring" / name


def programs() -> dict[str, Path]:
    """The path of each program that is there, by our name."""
    folder = cache_folder()
    places = os.pathsep.join([os.environ.get("PATH", ""), str(folder / "usr" / "bin"), str(folder)])
    names = NAMES | {KUBE_STATE_METRICS: KUBE_STATE_METRICS}
    found = {name: shutil.which(program, path=places) for name, program in names.items()}
    return {name: Path(path) for name, path in found.items() if path}


def unpack(folder: Path) -> None:
    """Unpack Debian's packages into the folder. Raises FetchError."""
    with tempfile.TemporaryDirectory(dir=folder) as downloads:
        # The lists of packages are old, or missing on a new machine: then read them, and try once more.
        if _ended("apt-get", "download", "-qq", *PACKAGES, cwd=downloads):
            _ended("apt-get", "update", "-qq")
            if said := _ended("apt-get", "download", "-qq", *PACKAGES, cwd=downloads):
                raise FetchError(f"apt-get could not download Prometheus: {said}")
        for package in Path(downloads).glob("*.deb"):
            if said := _ended("dpkg", "--extract", str(package), str(folder)):
                raise FetchError(f"{package.name} could not be unpacked: {said}")


def build(folder: Path, go: str, variables: dict[str, str]) -> None:
    """Build kube-state-metrics into the folder. Raises FetchError."""
    with tempfile.TemporaryDirectory(dir=folder) as started:
        command = [
            go,
            "build",
            "-mod=readonly",
            "-buildvcs=false",
            "-trimpath",
            "-ldflags=-s -w",
            "-o",
            started,
            _MODULE,
        ]
        if said := _ended(*command, cwd=str(_SOURCES), variables={**variables, "GOWORK": "off"}):
            raise FetchError(f"kube-state-metrics could not be built: {said}")
        (built,) = Path(started).iterdir()
        built.rename(folder / KUBE_STATE_METRICS)


def _ended(*command: str, cwd: str | None = None, variables: dict[str, str] | None = None) -> str:
    """What a command said that failed; empty if it succeeded."""
    environment = {**os.environ, **(variables or {})}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    return (done.stderr + done.stdout or f"exit code {done.returncode}") if done.returncode else ""


def main(wanted: Sequence[str] = ()) -> int:
    """Make the programs available and say where; the exit code is 1 if one of them cannot be had."""
    folder, there = cache_folder(), programs()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if set(NAMES) - set(there) and shutil.which("apt-get"):
            unpack(folder)
        if KUBE_STATE_METRICS in wanted and KUBE_STATE_METRICS not in there and (compiler := toolchain()):
            build(folder, *compiler)
    except FetchError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for name in (*NAMES, KUBE_STATE_METRICS):
        sys.stdout.write(f"{name}: {programs().get(name, 'none; its tests will be skipped')}\n")
    return 0
