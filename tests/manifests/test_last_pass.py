"""The ConfigMap with the last pass on a real server: its own account writes it and nothing else, whatever its name."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.manifests.install import Installed, Json, apply
from tests.manifests.kustomize import overlay
from tests.manifests.test_manifests import workload


def test_with_a_prefix_and_a_suffix_it_is_still_the_one_with_the_name_of_the_account(
    cluster: ControlPlane, control_plane_assets: Path, tmp_path: Path
) -> None:
    home = cluster.namespace()
    made = overlay(
        control_plane_assets / "kubectl",
        tmp_path,
        resources=["k8s/cronjob"],
        namespace=home,
        namePrefix="my-",
        nameSuffix="-2",
    )
    name = "my-takara-sync-2"
    one, container = workload(made)
    assert one["spec"]["jobTemplate"]["spec"]["template"]["spec"]["serviceAccountName"] == name
    fields = {each["name"]: each.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath") for each in container["env"]}
    assert fields["POD_SERVICE_ACCOUNT"] == "spec.serviceAccountName"
    mine = [each for each in made if each["kind"] in ("ServiceAccount", "ConfigMap", "Role", "RoleBinding")]
    apply(cluster, mine)
    tool = Installed(cluster, home, home, account=name)
    path = f"/api/v1/namespaces/{home}/configmaps"
    cluster.call("POST", path, {"metadata": {"name": "another"}})

    def data() -> Json:
        found: Json = cluster.call("GET", f"{path}/{name}").body.get("data", {})
        return found

    def recorded() -> str:  # the rights take a moment to be known; this account may read no Takaras
        assert tool.once().code == 3
        return "" if data() else "nothing is recorded"

    wait_until(recorded, within=SETTLE_SECONDS)
    assert data()["exit"] == "3"
    assert "cannot list resource" in data()["result"]
    assert json.loads(data()["counts"]) == {}
    patch = {"data": {"a": "b"}}
    for target in (f"{path}/another", "/api/v1/namespaces/default/configmaps/kube-root-ca.crt"):
        answer = cluster.call("PATCH", target, patch, content_type="application/merge-patch+json", user=tool.user)
        assert answer.status == 403
    for method in ("GET", "DELETE"):
        assert cluster.call(method, f"{path}/{name}", user=tool.user).status == 403

    before = data()
    text = yaml.safe_dump_all(mine)
    difference = cluster.kubectl("diff", "--server-side", "-f", "-", stdin=text, check=False)
    assert (difference.code, difference.stdout) == (0, "")  # so GitOps tools see none either
    apply(cluster, mine)
    cluster.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(mine))
    assert data() == before
