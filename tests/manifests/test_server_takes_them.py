"""Every manifest fits every supported Kubernetes version, and a real server takes it as it is."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.manifests.install import ROOT, Json, objects
from tests.manifests.kustomize import FOLDERS
from tests.manifests.test_manifests import workload

VERSIONS = [f"1.{minor}" for minor in range(30, 37)]
OTHERS = (ROOT / "k8s" / "chart", ROOT / "k8s" / "monitoring")  # templates, and configurations of other programs
FILES = sorted(
    path
    for path in (ROOT / "k8s").rglob("*.yaml")
    if path.name != "kustomization.yaml" and not set(OTHERS) & set(path.parents)
)
ENFORCED = {"pod-security.kubernetes.io/enforce": "restricted"}


@pytest.fixture(scope="module")
def known() -> list[Json]:
    """Each object of k8s/ and of the command once, but for Takaras, which no version knows."""
    found = [each for path in FILES for each in yaml.safe_load_all(path.read_text())]
    found += objects("--mode=once") + objects("--watch-namespace=a", "--allow-templates")
    different = {json.dumps(each, sort_keys=True): each for each in found if each["kind"] != "Takara"}
    assert len(different) > 20
    return list(different.values())


@pytest.mark.parametrize("version", VERSIONS)
def test_every_manifest_fits_the_schema_which_finds_a_mistake(known: list[Json], version: str) -> None:
    for each in known:
        kubernetes_validate.validate(each, version, strict=True)
    job = deepcopy(next(each for each in known if each["kind"] == "CronJob"))
    job["spec"]["concurencyPolicy"] = "Forbid"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, version, strict=True)


BUILT = [("-k", folder) for folder in FOLDERS]
BUILT += [
    ("-f", "examples/autoscaler.yaml"),
    ("-f", "components/network-policy/network-policy.yaml"),
    ("-f", "components/priority/priority.yaml"),
]


@pytest.mark.parametrize(("flag", "path"), BUILT)
def test_a_dry_run_of_the_server_takes_it(cluster: ControlPlane, flag: str, path: str) -> None:
    where = str(ROOT / "k8s" / path)
    done = cluster.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", flag, where)
    assert "(server dry run)" in done.stdout
    assert done.stderr == ""  # no warning either, of pod security or anything else


@pytest.mark.parametrize("name", ["takara-template", "takara-sync"])
def test_the_server_finds_no_fault_with_the_types_in_a_policy(strict: ControlPlane, name: str) -> None:
    path = f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{name}"

    def unchecked() -> str:
        found = strict.call("GET", path).body
        return "" if "typeChecking" in found.get("status", {}) else f"{name} has not been checked"

    wait_until(unchecked, within=SETTLE_SECONDS)
    assert strict.call("GET", path).body["status"]["typeChecking"] == {}


# ------------------------------------------------------------------ the pods


def pod(*argv: str) -> Json:
    one, _ = workload(objects(*argv))
    spec = one["spec"]["jobTemplate"]["spec"] if one["kind"] == "CronJob" else one["spec"]
    return {"metadata": {"name": "one"} | spec["template"]["metadata"], "spec": spec["template"]["spec"]}


def tried(server: ControlPlane, body: Json) -> tuple[int, str]:
    """A dry run in a namespace that enforces the restricted level."""
    namespace = server.namespace()
    path = f"/api/v1/namespaces/{namespace}"
    server.call("PATCH", path, {"metadata": {"labels": ENFORCED}}, content_type="application/merge-patch+json")
    answer = server.call("POST", f"{path}/pods?dryRun=All", body)
    return answer.status, str(answer.body)


# Fields of the pod's and of its container's security context that make a pod weaker, by the word of the refusal.
WEAKER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "runAsNonRoot": ({"runAsNonRoot": False}, {}),
    "seccompProfile": ({"seccompProfile": None}, {}),
    "allowPrivilegeEscalation": ({}, {"allowPrivilegeEscalation": None}),
    "capabilities": ({}, {"capabilities": None}),
}


def test_the_pods_pass_the_restricted_level_and_a_weaker_one_does_not(cluster: ControlPlane) -> None:
    """All modes have the same pod but for its arguments."""
    pods = [pod(f"--mode={mode}") for mode in ("cronjob", "loop", "once")]
    assert [tried(cluster, each)[0] for each in pods] == [201, 201, 201]
    for each in pods:
        del each["spec"]["containers"][0]["args"]
        each["spec"].pop("restartPolicy", None)
    assert pods[0] == pods[1] == pods[2]
    for word, (of_pod, of_container) in WEAKER.items():
        weaker = deepcopy(pods[0])
        weaker["spec"]["securityContext"] |= of_pod
        weaker["spec"]["containers"][0]["securityContext"] |= of_container
        status, said = tried(cluster, weaker)
        assert (status, word in said) == (403, True), word


def test_the_rest_of_the_pod_and_its_namespace() -> None:
    (namespace,) = (each for each in objects() if each["kind"] == "Namespace")
    assert ENFORCED.items() <= namespace["metadata"]["labels"].items()
    made = pod()
    spec = made["spec"]
    (container,) = spec["containers"]
    restricted = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert container["securityContext"] == restricted
    assert {"runAsUser": 65532, "runAsGroup": 65532}.items() <= spec["securityContext"].items()
    assert (spec["enableServiceLinks"], "volumes" in spec) == (False, False)
    assert container["terminationMessagePolicy"] == "FallbackToLogsOnError"
    assert set(container["resources"]["requests"]) == {"cpu", "memory"}
    assert made["metadata"]["labels"]["sidecar.istio.io/inject"] == "false"
    assert made["metadata"]["annotations"]["linkerd.io/inject"] == "disabled"


def test_the_numbers_of_the_cronjob() -> None:
    spec = workload(objects())[0]["spec"]
    history = {"successfulJobsHistoryLimit": 1, "failedJobsHistoryLimit": 3}
    assert ({"concurrencyPolicy": "Forbid", "startingDeadlineSeconds": 50} | history).items() <= spec.items()
    assert "timeZone" not in spec
    job = spec["jobTemplate"]["spec"]
    assert {"backoffLimit": 0, "activeDeadlineSeconds": 175}.items() <= job.items()
    assert job["template"]["spec"]["restartPolicy"] == "Never"
