"""The Takara CRD on a control plane that has just been started."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml

from tests.control_plane.waiting import START_SECONDS, wait_until

if TYPE_CHECKING:
    from tests.server import Server

_MANIFEST = Path(__file__).parents[2] / "k8s" / "crd" / "takara.yaml"
_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_LONG_AGO = "2000-01-01T00:00:00Z"
_ANYTHING = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}


def definition(kind: bool | Literal["schemaless"] = True) -> dict[str, Any]:
    """The CRD of the manifests; "schemaless" makes one that lets everything in.

    That takes more than the schema away: a scale subresource checks the size by itself.
    """
    crd: dict[str, Any] = yaml.safe_load(_MANIFEST.read_text())
    if kind == "schemaless":
        for version in crd["spec"]["versions"]:
            version["schema"] = _ANYTHING
            del version["subresources"]["scale"]
    return crd


def install(server: Server, kind: bool | Literal["schemaless"] = True) -> None:
    """Installs the CRD and returns when it is served and in discovery.

    The garbage collector asks discovery for its kinds when it starts, and then every 30 s.
    Raises AssertionError if the server refuses it.
    """
    crd = definition(kind)
    answer = server.call("POST", _PATH, crd)
    if answer.status != 201:
        raise AssertionError(f"the server refused the CRD: {answer.status} {answer.body}")
    path = f"{_PATH}/{crd['metadata']['name']}"
    wait_until(lambda: _not_established(server, path), within=START_SECONDS)
    wait_until(lambda: _not_backdated(server, path), within=START_SECONDS)
    wait_until(lambda: _not_in_discovery(server, crd), within=START_SECONDS)


def _not_established(server: Server, path: str) -> str:
    answer = server.call("GET", path)
    conditions = answer.body.get("status", {}).get("conditions") or []
    established = any(one["type"] == "Established" and one["status"] == "True" for one in conditions)
    return "" if established else f"the CRD is not established: {answer.body}"


def _not_backdated(server: Server, path: str) -> str:
    """Makes the CRD look old: the server sleeps 2 s over each create within 2 s of Established."""
    crd = server.call("GET", path).body
    patch = {
        "metadata": {"resourceVersion": crd["metadata"]["resourceVersion"]},  # its controllers write here too
        "status": {"conditions": [{**one, "lastTransitionTime": _LONG_AGO} for one in crd["status"]["conditions"]]},
    }
    answer = server.call("PATCH", f"{path}/status", patch, content_type="application/merge-patch+json")
    return "" if answer.status == 200 else f"the CRD's status cannot be written: {answer.status} {answer.body}"


def _not_in_discovery(server: Server, crd: dict[str, Any]) -> str:
    group, version = crd["spec"]["group"], crd["spec"]["versions"][0]["name"]
    listed = server.call("GET", f"/apis/{group}/{version}/{crd['spec']['names']['plural']}")
    if listed.status != 200:
        return f"its objects are not served: {listed.status}"
    groups = server.call("GET", "/apis", accept=_DISCOVERY)
    return "" if group in str(groups.body) else f"{group} is not in discovery"
