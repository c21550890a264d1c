"""A real control plane with the base installed, and admission as strict as clusters have it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.manifests.install import apply, identity, objects, tenant, without_workload
from tests.manifests.pods import deployment
from tests.server import User
from tests.world import takara

TAKARAS = "/apis/maho.takara.org/v1alpha1/namespaces/default/takaras?dryRun=All"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments?dryRun=All"
STRICT = ("--enable-admission-plugins=OwnerReferencesPermissionEnforcement",)


@pytest.fixture(scope="session")
def cluster(control_plane_assets: Path) -> Iterator[ControlPlane]:
    """The base installed, and no controllers, which would tidy up after an attack. To be left as it is."""
    with ControlPlane(control_plane_assets, controller_manager=False) as server:
        install(server)
        yield server


@pytest.fixture(scope="session")
def strict(control_plane_assets: Path) -> Iterator[ControlPlane]:
    """The base installed, controllers, and owner references only by who may delete what they protect."""
    with ControlPlane(control_plane_assets, api_server_flags=STRICT) as server:
        install(server)
        yield server


@pytest.fixture
def installed_with(fresh_control_plane: Callable[..., ControlPlane]) -> Callable[..., ControlPlane]:
    """A control plane of the test's own, with what `manifests` prints for these options."""

    def start(*argv: str) -> ControlPlane:
        server = fresh_control_plane(controller_manager=False)
        install(server, *argv)
        return server

    return start


def install(server: ControlPlane, *argv: str) -> None:
    """Apply all but the workload, and wait until both policies of the fence are enforced, and the rights known."""
    apply(server, without_workload(objects(*argv)))
    nobody, itself = tenant(server, "default", "takara-edit"), identity(server)

    def unfenced() -> str:
        answers = (
            server.call("POST", TAKARAS, takara("probe", 1, template={"spec": {}}), user=nobody),
            server.call("POST", DEPLOYMENTS, deployment("probe"), user=itself),
        )
        return "; ".join(str(one.body) for one in answers if "ValidatingAdmissionPolicy" not in str(one.body))

    wait_until(unfenced, within=SETTLE_SECONDS, every=0.1)
    if "--allow-templates" in argv:
        wait_until(lambda: may(server, itself, "use", "template"), within=SETTLE_SECONDS, every=0.1)


def may(server: ControlPlane, user: User, verb: str, subresource: str, namespace: str = "default") -> str:
    """Empty if the user may do this to a subresource of Takaras."""
    about = {"verb": verb, "group": "maho.takara.org", "resource": "takaras", "subresource": subresource}
    spec = {"user": user.name, "resourceAttributes": about | {"namespace": namespace}}
    answer = server.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})
    return "" if answer.body["status"]["allowed"] else f"{user.name} may not {verb} takaras/{subresource}"
