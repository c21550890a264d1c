"""The three ways to call it, the built wheel, and the library."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest

import takara_sync
from takara_sync import KubeCluster, Policy, sync_once
from tests.support.takaras import takara
from tests.tool import Tool
from tests.world import World

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.mark.parametrize("server", ["real"], indirect=True)
def test_the_wheel_works_elsewhere(world: World, tool: Tool, wheel: Path, tmp_path: Path) -> None:
    """In a virtual environment with the wheel, and with the packages that the tests have."""
    world.create(takara("one", 1))
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin/python")]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", str(wheel)], check=True, capture_output=True)
    (own,) = venv.glob("lib/*/site-packages")
    (own / "others.pth").write_text(sysconfig.get_path("purelib"))

    done = _run(str(venv / "bin/takara-sync"), "once", "-n", world.namespace, env=tool.environment(), cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert world.has_deployment("one")


def _run(*command: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_the_wheel_holds_what_it_should(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        str(path.relative_to(ROOT)) for path in (ROOT / "takara_sync").rglob("*.py") if "__pycache__" not in path.parts
    }
    assert sources <= names
    assert {"takara_sync/py.typed", "takara_sync/k8s/crd/takara.yaml"} <= names
    assert not [name for name in names if name.startswith("tests")]


def test_kubectl_finds_it_as_a_plugin(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    scripts = str(Path(sys.executable).parent)
    environment = tool.environment() | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}

    done = _run("kubectl", "takara", "once", "-n", world.namespace, env=environment)

    assert done.returncode == 0, done.stderr
    assert "one    created" in done.stdout


def test_it_runs_as_a_module() -> None:
    done = _run(sys.executable, "-m", "takara_sync", "--version")
    assert done.stdout.strip() == f"takara-sync {takara_sync.__version__}"


def test_it_is_a_library(world: World, tool: Tool) -> None:
    world.create(takara("one", 1))
    cluster = KubeCluster.connect(kubeconfig=str(tool.user.kubeconfig), namespaces=[world.namespace])

    report = sync_once(cluster, Policy(max_size=10))

    report.raise_for_failure()
    assert [(outcome.key.name, outcome.result) for outcome in report.outcomes] == [("one", "created")]
