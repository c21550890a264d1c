"""What `kubectl kustomize` makes of the folders of k8s/."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.manifests.install import ROOT, Json

FOLDERS = sorted(
    str(path.parent.relative_to(ROOT / "k8s"))
    for path in (ROOT / "k8s").rglob("kustomization.yaml")
    if "kind: Kustomization" in path.read_text()
)
COMPONENTS = sorted(
    str(path.parent.relative_to(ROOT / "k8s"))
    for path in (ROOT / "k8s").rglob("kustomization.yaml")
    if "kind: Component" in path.read_text()
)


def build(kubectl: Path, folder: str) -> list[Json]:
    """One folder, as it is."""
    return _built(kubectl, ROOT / "k8s" / folder)


def overlay(kubectl: Path, place: Path, **kustomization: Any) -> list[Json]:
    """A kustomization of a user's own, beside a copy of k8s/ in `place`."""
    shutil.copytree(ROOT / "k8s", place / "k8s", dirs_exist_ok=True)
    head = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    (place / "kustomization.yaml").write_text(yaml.safe_dump(head | kustomization))
    return _built(kubectl, place)


def _built(kubectl: Path, path: Path) -> list[Json]:
    done = subprocess.run([kubectl, "kustomize", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return list(yaml.safe_load_all(done.stdout))


def by_name(found: list[Json]) -> dict[tuple[str, str, str], Json]:
    """The objects by kind, namespace and name, each of which may be there once."""
    named = {(each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each for each in found}
    assert len(named) == len(found)
    return named
