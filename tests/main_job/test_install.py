"""The ways to call it, and the built wheel."""

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
from tests.contract.simulated import Simulated
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


def _run(*command: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_the_wheel_works_elsewhere(simulated: Simulated, wheel: Path, tmp_path: Path) -> None:
    """In a virtual environment with the wheel, and with the packages that the tests have."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin/python")]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", str(wheel)], check=True, capture_output=True)
    (own,) = venv.glob("lib/*/site-packages")
    (own / "others.pth").write_text(sysconfig.get_path("purelib"))

    done = _run(str(venv / "bin/takara-sync"), "once", env=Tool(simulated).environment(), cwd=tmp_path)

    assert (done.returncode, done.stdout.startswith("0 Takaras (")) == (0, True), done.stderr


def test_the_wheel_holds_what_it_should(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    sources = [path for path in (ROOT / "takara_sync").rglob("*.py") if "__pycache__" not in path.parts]
    expected = {str(path.relative_to(ROOT)) for path in sources}
    expected |= {f"takara_sync/{path.relative_to(ROOT)}" for path in (ROOT / "k8s").rglob("*") if path.is_file()}
    assert expected | {"takara_sync/py.typed"} == names


def test_kubectl_finds_it_as_a_plugin(simulated: Simulated, control_plane_assets: Path) -> None:
    World(simulated, simulated.namespace()).create(takara("one", 1))
    kubectl, scripts = control_plane_assets / "kubectl", Path(sys.executable).parent
    environment = Tool(simulated).environment() | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}

    done = _run(str(kubectl), "takara", "plan", env=environment)

    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "plan: 1 to create, 0 unchanged")


def test_it_runs_as_a_module() -> None:
    done = _run(sys.executable, "-m", "takara_sync", "--version")
    assert done.stdout.strip() == f"takara-sync {takara_sync.__version__}"
