"""The admission policy holds however takara-sync is installed, and restricts nobody else.

One control plane for the whole file. Each install is removed again, and the next begins when no policy is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands.running import Commands
from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.manifests.attacks import Thief, attacks, dress, legitimate
from tests.manifests.conftest import may
from tests.manifests.install import Installed, apply, identity, objects, tenant, until, without_workload
from tests.manifests.kustomize import overlay
from tests.manifests.pods import deployment
from tests.server import User
from tests.world import Json, World, takara

RIGHTS = {"maho.takara.org/takaras/status": ["patch"], "apps/deployments": ["create"]}


@pytest.fixture(scope="module")
def bare(control_plane_assets: Path) -> Iterator[ControlPlane]:
    """The CRD and no policy; the namespaces that the installs use."""
    with ControlPlane(control_plane_assets, controller_manager=False) as server:
        for name in ("takara-system", "home-a", "home-b", "watched-a", "watched-b"):
            assert server.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}}).status == 201
        yield server


@contextmanager
def installed(server: ControlPlane, found: list[Json], user: Callable[[], User], namespace: str) -> Iterator[User]:
    """Apply the objects until the policy restricts the user there; at the end delete them until it does not."""
    mine = [each for each in without_workload(found) if each["kind"] != "Namespace"]
    apply(server, mine)
    try:
        account = user()
        wait_until(lambda: restricted(server, account, namespace), within=SETTLE_SECONDS, every=0.1)
        yield account
    finally:
        server.kubectl("delete", "-f", "-", "--wait=false", stdin=yaml.safe_dump_all(mine))
    somebody = tenant(server, "default", rules=RIGHTS)
    wait_until(lambda: "" if restricted(server, somebody, "default") else "still", within=SETTLE_SECONDS, every=0.1)


def restricted(server: ControlPlane, user: User, namespace: str) -> str:
    """Empty if a policy refuses this user a Deployment without owner."""
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments?dryRun=All"
    answer = server.call("POST", path, deployment("probe"), user=user)
    return "" if answer.status == 403 and "ValidatingAdmissionPolicy" in answer.body["message"] else str(answer.body)


def renamed(found: list[Json], name: Callable[[str], str]) -> list[Json]:
    """As a chart names them: every object and every reference to one."""

    def walk(value: Any, key: str = "", kind: str = "") -> Any:
        if isinstance(value, dict):
            whole = value.get("kind", kind)
            return {each: walk(below, each, whole) for each, below in value.items()}
        if isinstance(value, list):
            return [walk(each, key, kind) for each in value]
        refers = key in ("policyName", "serviceAccountName") or (key == "name" and kind not in ("Namespace", ""))
        return name(value) if refers and str(value).startswith("takara") else value

    return [
        each
        | {part: walk(each[part], part, each["kind"]) for part in ("metadata", "roleRef", "subjects") if part in each}
        | ({"spec": walk(each["spec"])} if each["kind"] == "ValidatingAdmissionPolicyBinding" else {})
        for each in found
    ]  # fmt: skip


Kustomize = Callable[..., list[Json]]
WAYS: dict[str, tuple[Callable[[Kustomize], list[Json]], str, str]] = {
    "prefixed": (
        lambda build: build(resources=["k8s/cronjob"], namePrefix="prod-"),
        "takara-system",
        "prod-takara-sync",
    ),
    "suffixed": (lambda build: build(resources=["k8s/loop"], nameSuffix="-eu"), "takara-system", "takara-sync-eu"),
    "namespaced": (lambda _: objects("--watch-namespace=default"), "takara-system", "takara-sync"),
    "named by a chart": (
        lambda _: renamed(objects(), lambda name: name.replace("takara-sync", "release-7")),
        "takara-system",
        "release-7",
    ),
    "in kube-system": (lambda _: objects("--install-namespace=kube-system"), "kube-system", "takara-sync"),
}
"""How it is installed: the objects, and the namespace and name of the ServiceAccount."""


@pytest.mark.parametrize("way", WAYS)
def test_every_attack_is_refused_and_nobody_else_restricted(
    bare: ControlPlane, control_plane_assets: Path, tmp_path: Path, way: str
) -> None:
    make, home, name = WAYS[way]
    found = make(partial(overlay, control_plane_assets / "kubectl", tmp_path))
    with installed(bare, found, lambda: identity(bare, home, name), "default") as account:
        thief = Thief(bare, account, "default" if way == "namespaced" else None)
        dress(thief)
        for what, named, answer in attacks(thief):
            assert (answer.status, named in answer.body["message"]) == (403, True), (what, answer.body)
        for what, _, answer in legitimate(thief):
            assert answer.status < 300, (what, answer.body)
        made = bare.call("POST", thief.path, deployment("theirs", image="evil")).body
        made["metadata"] = {"name": "theirs", "annotations": {"a": "b"}, "finalizers": ["example.com/keep"]}
        for who in everybody_else(bare, home, thief.world.namespace):
            answer = bare.call("PUT", f"{thief.path}/theirs?dryRun=All", made, user=who)
            assert answer.status == 200, (who.name, answer.body)


def everybody_else(server: ControlPlane, home: str, namespace: str) -> Iterator[User]:
    """Accounts with wildcard roles in the install namespace and kube-system, controllers, and people."""
    server.wait_for_roles()
    argo = {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}], "metadata": {"name": "argo-cd"}}
    server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", argo)
    verbs = ["get", "list", "watch", "create", "update", "patch", "delete"]
    named = {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": verbs}], "metadata": {"name": "flux"}}
    server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", named)
    for role in ("cluster-admin", "argo-cd", "flux"):
        for place in (home, "kube-system"):
            yield bound(server, place, role, role)
    for controller in ("deployment-controller", "generic-garbage-collector"):
        yield bound(server, "kube-system", controller, f"system:controller:{controller}")
    person = tenant(server, namespace, rules={"apps/deployments": ["get", "list", "update"]})
    until(server, person, f"/apis/apps/v1/namespaces/{namespace}/deployments")
    yield person


def bound(server: ControlPlane, namespace: str, name: str, role: str) -> User:
    """A ServiceAccount with a ClusterRole everywhere."""
    server.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": name}})
    binding = {
        "metadata": {"name": f"{namespace}-{name}"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": name}],
    }
    server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
    return identity(server, namespace, name)


@pytest.mark.parametrize(
    "image", ["mirror.example:5000/busybox", "mirror.example:5000/busybox:1", "b:latest", "b@sha256:"]
)
def test_an_install_may_have_another_default_image_and_no_other(bare: ControlPlane, image: str) -> None:
    image += "0" * 64 if image.endswith("sha256:") else ""
    found = objects()
    for each in found:
        for variable in each["spec"].get("variables", ()) if each["kind"] == "ValidatingAdmissionPolicy" else ():
            variable["expression"] = f"'{image}'" if variable["name"] == "image" else variable["expression"]
    with installed(bare, found, lambda: identity(bare), "default") as account:
        thief = Thief(bare, account)
        assert thief.create(deployment("one", thief.mine, image=image), dry=True).status == 201
        assert thief.create(deployment("one", thief.mine), dry=True).status == 403


# ------------------------------------------------------------------ two installs


def test_two_installs_neither_see_nor_open_each_other_and_one_may_go(bare: ControlPlane) -> None:
    def of(name: str, *argv: str) -> list[Json]:
        options = ("--install-namespace", f"home-{name}", "--watch-namespace", f"watched-{name}", *argv)
        return renamed(objects(*options), lambda each: f"{name}-{each}")

    def account(name: str) -> Callable[[], User]:
        return lambda: identity(bare, f"home-{name}", f"{name}-takara-sync")

    for name in ("a", "b"):
        World(bare, f"watched-{name}").create(takara(f"of-{name}"))
    with installed(bare, of("b"), account("b"), "watched-b") as b:
        apply(bare, [each for each in without_workload(of("a", "--allow-templates")) if each["kind"] != "Namespace"])
        a = account("a")()
        wait_until(lambda: may(bare, a, "use", "template", "watched-a"), within=SETTLE_SECONDS, every=0.1)
        wait_until(lambda: restricted(bare, a, "watched-a"), within=SETTLE_SECONDS, every=0.1)

        for mine, other, user in (("a", "b", a), ("b", "a", b)):
            tool = Commands(bare, f"watched-{mine}", user)
            assert tool.once().results == {f"of-{mine}": "created"}
            foreign = Commands(bare, f"watched-{other}", user).once()
            assert (foreign.code, foreign.writes) == (3, [])
            assert restricted(bare, user, f"watched-{mine}") == ""
        assert other_pod(bare, a, "a") == 201
        assert other_pod(bare, b, "b") == 403
        assert other_pod(bare, a, "b") == other_pod(bare, b, "a") == 403

        policies = "validatingadmissionpolicies,validatingadmissionpolicybindings"
        gone = [each for each in without_workload(of("a")) if each["kind"] != "Namespace"]
        bare.kubectl("delete", "-f", "-", "--wait=false", stdin=yaml.safe_dump_all(gone))
        left = bare.kubectl("get", policies, "-o", "name").stdout.split()
        assert sorted(each.split("/")[1] for each in left) == ["b-takara-sync", "b-takara-sync", "b-takara-template",
                                                              "b-takara-template"]  # fmt: skip
        assert restricted(bare, b, "watched-b") == ""
        assert other_pod(bare, b, "b") == 403


def other_pod(server: ControlPlane, user: User, name: str) -> int:
    """The answer to a pod that is not the default one, for a rightful owner."""
    world = World(server, f"watched-{name}")
    owner = {"apiVersion": "maho.takara.org/v1alpha1", "kind": "Takara", "name": "new", "controller": True}
    owner["uid"] = world.takara(f"of-{name}")["metadata"]["uid"]
    path = f"/apis/apps/v1/namespaces/{world.namespace}/deployments?dryRun=All"
    return server.call("POST", path, deployment("new", owner, image="evil"), user=user).status


# ------------------------------------------------------------------ policies that change Deployments

SPEC = "/spec/template/spec"
MAIN = f"{SPEC}/containers/0"
SIZES = '{"cpu": "500m", "memory": "1Gi"}'
HARMLESS = f"""
    [JSONPatch{{op: "add", path: "{SPEC}/tolerations", value: [{{"key": "spot", "operator": "Exists"}}]}},
    JSONPatch{{op: "add", path: "{SPEC}/nodeSelector", value: {{"disk": "ssd"}}}},
    JSONPatch{{op: "add", path: "{SPEC}/securityContext", value: {{"seccompProfile": {{"type": "RuntimeDefault"}}}}}},
    JSONPatch{{op: "add", path: "{MAIN}/resources", value: {{"limits": {SIZES}, "requests": {SIZES}}}}},
    JSONPatch{{op: "add", path: "{MAIN}/securityContext", value: {{"capabilities": {{"drop": ["NET_RAW"]}}}}}}]
    + (has(object.metadata.annotations)
    ? [JSONPatch{{op: "add", path: "/metadata/annotations/autopilot.gke.io~1resource-adjustment", value: "x"}}]
    : [JSONPatch{{op: "add", path: "/metadata/annotations", value: {{"autopilot.gke.io/resource-adjustment": "x"}}}}])
"""
"""What GKE Autopilot, and the usual policies of Kyverno and Gatekeeper, add to Deployments."""
LABELLED = """[JSONPatch{op: "add", path: "/metadata/labels/team", value: "a"}]"""


@contextmanager
def mutated(server: ControlPlane, namespace: str, expression: str) -> Iterator[None]:
    """A policy that changes every Deployment of the namespace."""
    kinds = "/apis/admissionregistration.k8s.io/v1"
    where = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    rule = {
        "apiGroups": ["apps"],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["deployments"],
    }
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
    spec = {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "matchConstraints": {"resourceRules": [rule], "namespaceSelector": where},
        "mutations": [mutation],
    }
    policy = {"metadata": {"name": namespace}, "spec": spec}
    binding = {"metadata": {"name": namespace}, "spec": {"policyName": namespace}}
    for plural, body in (("mutatingadmissionpolicies", policy), ("mutatingadmissionpolicybindings", binding)):
        answer = server.call("POST", f"{kinds}/{plural}", body)
        assert answer.status == 201, answer.body
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments?dryRun=All"

    def untouched() -> str:
        made = server.call("POST", path, deployment("probe")).body
        plain = "team" not in made["metadata"]["labels"] and "nodeSelector" not in made["spec"]["template"]["spec"]
        return "the policy is not enforced yet" if plain else ""

    wait_until(untouched, within=SETTLE_SECONDS, every=0.1)
    try:
        yield
    finally:
        for plural in ("mutatingadmissionpolicybindings", "mutatingadmissionpolicies"):
            server.call("DELETE", f"{kinds}/{plural}/{namespace}")


def test_behind_policies_that_add_to_deployments_it_creates_and_resizes(cluster: ControlPlane) -> None:
    world = World(cluster, cluster.namespace())
    tool = Installed(cluster, "takara-system", world.namespace)
    with mutated(cluster, world.namespace, HARMLESS):
        world.create(takara("one", 1))
        assert tool.once().results == {"one": "created"}
        pod = world.deployment("one")["spec"]["template"]["spec"]
        assert (pod["nodeSelector"], pod["containers"][0]["resources"]["limits"]["cpu"]) == ({"disk": "ssd"}, "500m")
        world.merge("one", {"spec": {"size": 3}})
        assert tool.once().results == {"one": "updated"}
        world.kubectl("set", "image", "deployment/one", "takara=nginx")
        assert tool.once().results == {"one": "updated"}
        tool.once()
        assert (tool.once().results, tool.once().writes) == ({"one": "unchanged"}, [])


def test_what_is_not_harmless_is_named_with_both_ways_out_and_one_of_them_works(cluster: ControlPlane) -> None:
    world = World(cluster, cluster.namespace())
    tool = Installed(cluster, "takara-system", world.namespace)
    policy = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/takara-sync"
    with mutated(cluster, world.namespace, LABELLED):
        world.create(takara("one", 1))
        failed = tool.once()
        assert (failed.code, failed.results) == (1, {"one": "failed"})
        said = world.condition("one", "Ready")["message"]
        for text in (said, failed.stderr, tool.json("check").stdout):
            assert "mayBeAdded" in text
            assert "let it change pods instead" in text
            assert "Refused: metadata.labels.team" in text
            assert "Grant" not in text

        variables = cluster.call("GET", policy).body["spec"]["variables"]
        assert variables[0]["name"] == "mayBeAdded"
        listed = [{"op": "replace", "path": "/spec/variables/0/expression", "value": "['metadata.labels.team']"}]
        answer = cluster.call("PATCH", policy, listed, content_type="application/json-patch+json")
        assert answer.status == 200, answer.body
        try:
            wait_until(lambda: "" if tool.once().code == 0 else "not yet", within=SETTLE_SECONDS, every=0.2)
            assert world.deployment("one")["metadata"]["labels"]["team"] == "a"
            assert not [each for each in tool.json("check").report["checks"] if not each["ok"]]
        finally:
            listed[0]["value"] = variables[0]["expression"]
            cluster.call("PATCH", policy, listed, content_type="application/json-patch+json")


# ------------------------------------------------------------------ check


def fence_of(report: Json) -> dict[str, Any]:
    """Each check of the policy; None: not checked."""
    found = [(each["what"], each["ok"]) for each in report["checks"]]
    found += [(each["what"], None) for each in report["notChecked"]]
    return {what.split(" in namespace")[0]: ok for what, ok in found if "admi" in what}


def test_check_proves_it_from_inside_and_says_what_it_cannot_know(cluster: ControlPlane, bare: ControlPlane) -> None:
    here, admitted = "the admission policy restricts these credentials", "the default Deployment is admitted"
    inside = Installed(cluster, "takara-system").json("check")
    assert (inside.code, fence_of(inside.report)) == (0, {here: True, admitted: True})
    assert all(each.dry_run for each in inside.requests if each.resource == "deployments")

    outside = Commands(cluster, user=cluster.user()).json("check")
    assert (outside.code, fence_of(outside.report)) == (0, {here: None})

    namespace = bare.namespace()
    rules = {
        "maho.takara.org/takaras": ["get", "list"],
        "maho.takara.org/takaras/status": ["patch"],
        "maho.takara.org/takaras/finalizers": ["update"],
        "apps/deployments": ["get", "list", "create", "patch"],
        "/pods": ["list"],
    }
    user = tenant(bare, namespace, rules=rules)
    tool = Commands(bare, namespace, user)

    def unknown() -> str:
        return "" if fence_of(tool.json("check").report).get(admitted) else "the rights are not known yet"

    wait_until(unknown, within=SETTLE_SECONDS, every=0.1)
    open_ = tool.json("check")
    assert (open_.code, fence_of(open_.report)) == (1, {here: False, admitted: True})
    text = tool.run("check").stdout
    assert "k8s/base/fence.yaml" in text

    lesser = Commands(bare, namespace, tenant(bare, namespace, rules={"/pods": ["list"]})).json("check")
    assert (lesser.code, fence_of(lesser.report)) == (1, {here: None})
