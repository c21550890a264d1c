"""The node's images: a Python base made of Debian packages, the product from its Dockerfile, busybox and pause.

No image registry can be reached; the packages of Debian and Python can.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import takara_sync
from tests.control_plane.build import alone
from tests.node.machine import namespaces, overlays, run

ROOT = Path(__file__).parents[2]
PRODUCT = f"takara-sync:{takara_sync.__version__}"
_BASE = "localhost/python"
_BUILT = "localhost/built"
_PRODUCT = "localhost/product"
_PUSHED = {
    "pause:node": "localhost/busybox",
    "library/busybox:latest": "localhost/busybox",
    f"library/{PRODUCT}": _PRODUCT,
}
_BUILD_ARGUMENTS = ("--pull-never", f"--build-arg=BASE={_BASE}", "--build-arg=PIP_NO_INDEX=1")
_REMOVE_SHELLS = """
import os, shutil
for name in ("sh", "dash", "bash"):
    while found := shutil.which(name):
        os.unlink(found)
"""
_PYTHON = "3.11"  # of the base, for the wheels

# The recipe of the base: whatever it depends on is in these lines, since their hash names the result.
_SUITE = "bookworm"
_PACKAGES = "python3-minimal,libpython3-stdlib,python3-pip,dash,coreutils"
_RECIPE = [
    "mmdebstrap",
    "--quiet",
    "--variant=extract",  # only these and what they depend on: no apt, no init, no passwords
    f"--include={_PACKAGES}",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-exclude=/usr/share/man/*",
    # As in the official Python images: the names without a 3, and a pip that may install.
    '--extract-hook=rm -f "$1"/usr/lib/python3.*/EXTERNALLY-MANAGED',
    '--extract-hook=ln -s python3 "$1"/usr/bin/python',
    _SUITE,
]


class Images:
    """Builds into a storage in the folder, and pushes from it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            "BUILDAH_ISOLATION": "chroot",  # the most that works everywhere
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
            "TMPDIR": str(folder),
        }

    def build(self) -> None:
        """Makes all of them. Raises PreparationError with what a builder said."""
        driver = "overlay" if overlays(self._folder) else "vfs"
        (self._folder / "storage.conf").write_text(
            f'[storage]\ndriver = "{driver}"\ngraphroot = "{self._folder}/images"\nrunroot = "{self._folder}/builds"\n'
        )
        # One image is both: pods say what they run, and the sandbox, which only has to stay, does not.
        self._image("localhost/busybox", _busybox(self._folder / "busybox"), "--cmd", "sleep 2147483647")
        self._image(_BASE, base())
        self._buildah("build", "--quiet", *_BUILD_ARGUMENTS, "--tag", _BUILT, str(_context(self._folder / "context")))
        self._without_shells(_BUILT, _PRODUCT)

    def push(self, registry: str) -> None:
        """Pushes them to a registry on loopback."""
        for name, image in _PUSHED.items():
            self._buildah("push", "--quiet", "--tls-verify=false", image, f"docker://{registry}/{name}")

    def _image(self, name: str, content: Path, *config: str) -> None:
        """An image with one layer: the folder or tar."""
        container = self._buildah("from", "scratch")
        self._buildah("add", "--quiet", container, str(content), "/")
        self._buildah("config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin", *config, container)
        self._buildah("commit", "--quiet", "--rm", container, name)

    def _without_shells(self, image: str, name: str) -> None:
        """The same image with its shells taken out: everything that works on the node works without one."""
        container = self._buildah("from", "--pull-never", image)
        self._buildah("run", "--user=0", container, "--", "python3", "-c", _REMOVE_SHELLS)
        self._buildah("commit", "--quiet", "--rm", container, name)

    def _buildah(self, *arguments: str) -> str:
        return run(*namespaces(network=False), "buildah", *arguments, environment=self._environment).strip()


def base() -> Path:
    """The base as a tar, which takes half a minute to make. Raises PreparationError."""

    def make(result: Path) -> None:
        run(*namespaces(network=False), *_RECIPE, result, environment={"TMPDIR": str(result.parent)})

    return _cached("base.tar", "\n".join(_RECIPE), make)


def wheels() -> Path:
    """A folder with the locked dependencies for the base's Python. Raises PreparationError."""
    lock = ROOT / "requirements.lock"
    wanted = ["--require-hashes", "--only-binary=:all:", f"--python-version={_PYTHON}", f"--requirement={lock}"]

    def make(result: Path) -> None:
        run(sys.executable, "-m", "pip", "download", "--quiet", "--dest", result, *wanted)

    return _cached("wheels", _PYTHON + lock.read_text(), make)


def _cached(name: str, recipe: str, make: Callable[[Path], None]) -> Path:
    """What make() leaves at the path that it gets, or has left there for the same recipe: complete or not at all."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "takara-sync" / "node"
    digest = hashlib.sha256(f"{platform.machine()}\n{recipe}".encode()).hexdigest()[:16]
    result = caches / digest / name
    with alone(caches):
        if not result.exists():
            with tempfile.TemporaryDirectory(prefix=".building-", dir=caches) as started:
                made = Path(started) / name
                make(made)
                result.parent.mkdir(exist_ok=True)
                made.rename(result)
    return result


def _context(folder: Path) -> Path:
    """What the Dockerfile is built from: the sources as they are now, and the wheels."""
    folder.mkdir()
    for name in ("Dockerfile", ".dockerignore", "requirements.lock"):
        shutil.copy(ROOT / name, folder)
    for name in ("takara_sync", "k8s"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(wheels(), folder / "wheels")
    return folder


def _busybox(tree: Path) -> Path:
    """Debian's static busybox under all its names."""
    folder = tree / "bin"
    folder.mkdir(parents=True)
    (tree / "tmp").mkdir()
    shutil.copy("/bin/busybox", folder)
    for name in run("/bin/busybox", "--list").split():
        with contextlib.suppress(FileExistsError):
            (folder / name).symlink_to("busybox")
    return tree
