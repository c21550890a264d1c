"""The image's recipe: linted, locked, and in step with the rest."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from takara_sync import __version__
from tests.manifests.install import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
LOCK = (ROOT / "requirements.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


MISTAKES = ("# hadolint ignore=DL3067\n", "USER 65532:65532\n")


def locked() -> dict[str, tuple[str, int]]:
    """Each locked package with its version and the number of its hashes."""
    entries = re.split(r"\n(?=[a-z])", LOCK)
    found: dict[str, tuple[str, int]] = {}
    for entry in entries:
        if match := re.match(r"([a-z0-9.-]+)==(\S+)", entry):
            found[canonicalize_name(match[1])] = (match[2], len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", entry)))
    return found


@pytest.mark.parametrize(("without", "found"), [((), set()), (MISTAKES, {"DL3002", "DL3067"})])
def test_hadolint_finds_mistakes_and_none_here(tmp_path: Path, without: tuple[str, ...], found: set[str]) -> None:
    text = DOCKERFILE
    for line in without:
        text = text.replace(line, "USER root\n" if "USER" in line else "")
    (tmp_path / "Dockerfile").write_text(text)
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, tmp_path / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout == "") == ((1, False) if found else (0, True))
    assert found <= set(re.findall(r"DL\d+", done.stdout))


def test_the_lock_has_every_dependency_with_hashes_and_its_command_is_in_the_readme() -> None:
    packages = locked()
    for wanted in map(Requirement, PROJECT["dependencies"]):
        assert wanted.specifier.contains(packages[canonicalize_name(wanted.name)][0]), f"{wanted} is locked otherwise"
    assert all(count > 0 for _, count in packages.values())
    assert "://" not in LOCK
    lines = set(re.findall(r"^\S+", LOCK, re.MULTILINE)) - {"#"}
    assert lines == {f"{name}=={version}" for name, (version, _) in packages.items()}
    (command,) = re.findall(r"^#\s+(uv pip compile .*)$", LOCK, re.MULTILINE)
    assert command in (ROOT / "README.md").read_text()


def test_the_lock_is_closed() -> None:
    """Whatever a locked package needs is locked too, as far as this interpreter has them installed."""
    for name in locked():
        try:
            needs = requires(name) or []
        except PackageNotFoundError:  # for another platform or Python
            continue
        for line in needs:
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                assert canonicalize_name(wanted.name) in locked(), f"{name} needs {wanted.name}"


def test_the_recipe_keeps_its_promises() -> None:
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
    assert [stage.split()[0] for stage in stages] == ["${BASE}", "${BASE}", "scratch"]
    final = stages[-1]
    assert "RUN" not in final
    assert "USER 65532:65532" in final
    assert 'ENTRYPOINT ["takara-sync"]' in final
    assert f'org.opencontainers.image.version="{__version__}"' in final
    assert "--require-hashes" in DOCKERFILE
    assert "compileall" in DOCKERFILE
    assert re.search(r"^ARG BASE=\S+:\S+$", DOCKERFILE, re.MULTILINE)
    context = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    assert context[0] == "*"
    assert {line for line in context if line[0] == "!"} == {"!requirements.lock", "!takara_sync", "!k8s", "!wheels"}
