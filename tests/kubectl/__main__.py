"""The whole table, on the oldest Python that is supported and on the one of the image.

python -m tests.kubectl [PYTHON ...]

PYTHON: other interpreters; each gets an environment of its own in a cache folder, made with pip the first time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHONS = ("python3.11", "python3.13")
NEEDED = ("pytest", "pytest-timeout", "pytest-xdist", "pytest-randomly", "pyyaml")


def found(python: str) -> str | None:
    """The interpreter: on PATH, or the newest of this version that pyenv has."""
    kept = Path.home() / ".pyenv/versions"
    minor = python.removeprefix("python")
    versions = sorted(kept.glob(f"{minor}.*/bin/{python}"), key=lambda path: int(path.parts[-3].rpartition(".")[2]))
    return str(versions[-1]) if versions else shutil.which(python)


def environment(python: str) -> Path:
    """A Python with this project and pytest in it."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "takara-sync" / "kubectl" / Path(python).name
    inside = folder / "bin/python"
    if not inside.exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
    install = [str(inside), "-m", "pip", "install", "--quiet", "--editable", f"{ROOT}[socks]", *NEEDED]
    subprocess.run(install, check=True)
    return inside


def main(pythons: list[str]) -> int:
    """The number of Pythons on which a row fails, or that are not there."""
    failed = 0
    for name in pythons or PYTHONS:
        python = found(name)
        if python is None:
            sys.stderr.write(f"{name} is not there: install it, or give the path of another\n")
            failed += 1
            continue
        tests = ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "tests/kubectl", "--long"]
        done = subprocess.run([environment(python), *tests], cwd=ROOT, check=False)
        failed += done.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
