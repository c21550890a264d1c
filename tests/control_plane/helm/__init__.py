"""Builds helm from its Go module, beside the control plane in the cache. Standard library only."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
from pathlib import Path

from tests.control_plane import build

SOURCES = Path(__file__).parent
_MAIN = "helm.sh/helm/v3/cmd/helm"


def program() -> Path:
    """Where the build of these very sources goes; it need not exist."""
    sha = hashlib.sha256(f"{platform.system()} {platform.machine()}\n".encode())
    for name in ("go.mod", "go.sum"):
        sha.update((SOURCES / name).read_bytes())
    return build.cache_folder().parents[1] / "helm" / sha.hexdigest()[:16] / "helm"


def make(go: str, variables: dict[str, str]) -> None:
    """Builds it if it is not there: minutes from nothing. Raises BuildError."""
    wanted = program()
    with build.alone(wanted.parents[1]):
        if os.access(wanted, os.X_OK):
            return
        started = Path(tempfile.mkdtemp(prefix=build.STARTED, dir=wanted.parents[1]))
        try:
            build.compile_to(started / wanted.name, go, variables, sources=SOURCES, package=_MAIN, flags=_flags())
            started.chmod(0o755)
            shutil.rmtree(wanted.parent, ignore_errors=True)
            started.rename(wanted.parent)
        finally:
            shutil.rmtree(started, ignore_errors=True)


def _flags() -> str:
    """The version that go.mod pins. helm takes the Kubernetes version of `helm template` from flags too."""
    go_mod = (SOURCES / "go.mod").read_text()
    (version,) = re.findall(r"^\s*helm\.sh/helm/v3 (v\S+)", go_mod, re.MULTILINE)
    (minor,) = re.findall(r"^\s*k8s\.io/client-go v0\.(\d+)\.", go_mod, re.MULTILINE)
    stamps = [f"internal/version.version={version}", "pkg/chartutil.k8sVersionMajor=1"]
    stamps += [f"pkg/chartutil.k8sVersionMinor={minor}"]
    return " ".join(["-s -w", *(f"-X helm.sh/helm/v3/{stamp}" for stamp in stamps)])


def main() -> int:
    """Makes helm available if there is a Go toolchain; the exit code is 1 if a build fails."""
    if os.access(program(), os.X_OK) or (compiler := build.toolchain()) is None:
        return 0
    build.say("building helm (minutes the first time) ...")
    try:
        make(*compiler)
    except build.BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    build.say(f"helm (cache): {program()}")
    return 0
