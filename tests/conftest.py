"""What every test may ask for, and which control plane this run has."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.control_plane import helm
from tests.control_plane.build import HOW_TO_BUILD, IncompleteAssetsError, assets
from tests.control_plane.server import ControlPlane

pytest_plugins = ["tests.trials"]

KUBECONFIG = pytest.StashKey[str | None]()  # the user's, for --cluster current

_OPTION = "--require-control-plane"
_NO_NODE = "it takes a cluster with nodes: python -m tests.node makes one, --cluster current takes kubectl's own"
_NONE = f"no control plane: neither KUBEBUILDER_ASSETS nor the cache has one; {HOW_TO_BUILD}"
# The variables that a user's own settings, or a pod that the tests run in, could reach the product by.
_SETTINGS = {"KUBECONFIG", "WATCH_NAMESPACE", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that CI uses."""
    parser.addoption(
        _OPTION, action="store_true", help="fail the tests that need a real control plane where there is none"
    )
    parser.addoption("--node", action="store_true", help="make a real node as well, and run its tests on it")
    parser.addoption("--cluster", choices=["current"], help="run the tests marked node on kubectl's current cluster")
    parser.addoption("--image", help="the image of takara-sync that this cluster can pull; default: the manifests' own")


def pytest_configure(config: pytest.Config) -> None:
    """Takes the user's own settings out of the environment; ends a run that is asked for what cannot be."""
    config.stash[KUBECONFIG] = os.environ.get("KUBECONFIG")
    if config.getoption("--cluster") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--cluster takes -n 0: its tests install takara-sync, of which a cluster has one")
    for name in set(os.environ):
        if name in _SETTINGS or name.startswith("TAKARA_SYNC_"):
            del os.environ[name]
    try:
        assets()
    except IncompleteAssetsError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """No workers for --cluster, see pytest_configure; else one more than there are CPUs: a third of it is waiting."""
    return 0 if config.getoption("--cluster") else (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips the tests marked node where there is no cluster for them; what takes longest begins first."""
    if not config.getoption("--cluster"):
        for item in items:
            if item.get_closest_marker("node"):
                item.add_marker(pytest.mark.skip(reason=_NO_NODE))
    items.sort(key=lambda item: item.get_closest_marker("first") is None)


def pytest_report_header() -> str:
    """Says at the top which control plane this run uses."""
    return _control_plane_line()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says it at the bottom, where it is read."""
    terminalreporter.write_line(_control_plane_line())


@pytest.fixture
def silent() -> Iterator[None]:
    """Nothing of the product's own log for as long as the test lasts."""
    logger = logging.getLogger("takara_sync")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    yield
    logger.setLevel(before)


@pytest.fixture(scope="session")
def control_plane_assets(request: pytest.FixtureRequest) -> Path:
    """The folder with etcd, kube-apiserver, kubectl and the others."""
    found = assets()
    if found is not None:
        return found
    if request.config.getoption(_OPTION):
        pytest.fail(f"{_NONE} ({_OPTION} is on)", pytrace=False)
    pytest.skip(_NONE)


@pytest.fixture(scope="session")
def helm_program(request: pytest.FixtureRequest) -> Path:
    """The real helm."""
    if os.access(helm.program(), os.X_OK):
        return helm.program()
    if request.config.getoption(_OPTION):
        pytest.fail(f"no helm in the cache ({_OPTION} is on); {HOW_TO_BUILD}", pytrace=False)
    pytest.skip(f"no helm in the cache; {HOW_TO_BUILD}")


@pytest.fixture(scope="session")
def control_plane(control_plane_assets: Path) -> Iterator[ControlPlane]:
    """A real control plane with the Takara CRD, one for all tests (of one xdist worker)."""
    with ControlPlane(control_plane_assets) as server:
        server.wait_for_roles()
        yield server


@pytest.fixture
def namespace(control_plane: ControlPlane) -> str:
    """A namespace of the test's own on that control plane."""
    return control_plane.namespace()


@pytest.fixture
def fresh_control_plane(control_plane_assets: Path) -> Iterator[Callable[..., ControlPlane]]:
    """Starts control planes of the test's own, with ControlPlane's options; they end with the test."""
    with contextlib.ExitStack() as started:

        def start(**options: Any) -> ControlPlane:
            return started.enter_context(ControlPlane(control_plane_assets, **options))

        yield start


def _control_plane_line() -> str:
    found = assets()
    if found is None:
        return f"simulator only: {_NONE}"
    told = subprocess.run([found / "kube-apiserver", "--version"], capture_output=True, text=True, check=False)
    return f"control plane: {told.stdout.strip() or 'of unknown version'} in {found}"
