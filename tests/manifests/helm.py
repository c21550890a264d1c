"""What the real helm makes of k8s/chart."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.manifests.install import ROOT, Json

CHART = ROOT / "k8s" / "chart"


def helm(program: Path, *args: str, kubeconfig: Path | None = None, home: Path | None = None) -> str:
    """What it prints; it fails if helm does."""
    folder = home or (kubeconfig.parent if kubeconfig else ROOT)
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder)}
    environment |= {"KUBECONFIG": str(kubeconfig)} if kubeconfig else {}
    done = subprocess.run([program, *args], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"helm {' '.join(args)}: {done.stderr}{done.stdout}"
    return done.stdout


def values(**given: Any) -> list[str]:
    """The values as arguments."""
    return [text for name, value in given.items() for text in ("--set-json", f"{name}={json.dumps(value)}")]


def template(program: Path, release: str, namespace: str, **given: Any) -> list[Json]:
    """The objects of `helm template`."""
    text = helm(program, "template", release, str(CHART), "--namespace", namespace, *values(**given))
    return [each for each in yaml.safe_load_all(text) if each]
