"""The cluster that the tests run on, and what it looked like when one of them failed."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from tests.conftest import KUBECONFIG
from tests.node.cluster import INSTALLED_IN, Cluster

_CLUSTER = pytest.StashKey[Cluster]()
_PICTURE = (
    ("get", "takaras,deployments,cronjobs,jobs,pods", "--all-namespaces", "--output=wide"),
    ("get", "events", "--all-namespaces", "--sort-by=.lastTimestamp"),
    ("logs", f"--namespace={INSTALLED_IN}", "--selector=app.kubernetes.io/name=takara-sync", "--tail=20"),
)
_LINES = 40


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The cluster of --cluster, without takara-sync before the tests and after them."""
    config = request.config
    found = Cluster(config.stash[KUBECONFIG], config.getoption("image"))
    there = found.kubectl("get", "namespaces,crd", "--output=name").stdout.split()
    for name in (
        f"namespace/{INSTALLED_IN}",
        "customresourcedefinition.apiextensions.k8s.io/takaras.maho.takara.org",
    ):
        if name in there:
            pytest.fail(f"the cluster has {name}: these tests install takara-sync, and remove it", pytrace=False)
    config.stash[_CLUSTER] = found
    yield found
    found.uninstall()


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace of the test's own."""
    with cluster.namespace() as name:
        yield name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds a picture of the cluster to a failed test: it is gone when the failure is read."""
    report = yield
    if report.failed and _CLUSTER in item.config.stash:
        for command in _PICTURE:
            done = item.config.stash[_CLUSTER].kubectl(*command, check=False)
            told = "\n".join((done.stdout + done.stderr).splitlines()[-_LINES:])
            report.sections.append((f"kubectl {' '.join(command)}", told))
    return report
