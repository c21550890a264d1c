"""The rights of takara-sync are exact: with them it does its whole main job, without any one it does not."""

from __future__ import annotations

import pytest

from takara_sync.cli.check import LAST_PASS, RIGHTS
from tests.control_plane.server import ControlPlane
from tests.control_plane.waiting import SETTLE_SECONDS, wait_until
from tests.manifests.install import Installed, apply, objects, without_workload
from tests.tool import Pass
from tests.world import GO_OPERATOR, Json, World, as_the_go_operator, takara

MAHO = "maho.takara.org"
SHIPPED = {
    ("get", MAHO, "takaras"),
    ("list", MAHO, "takaras"),
    ("patch", MAHO, "takaras/status"),
    ("update", MAHO, "takaras/finalizers"),
    ("get", "apps", "deployments"),
    ("list", "apps", "deployments"),
    ("create", "apps", "deployments"),
    ("patch", "apps", "deployments"),
    ("list", "", "pods"),
    ("create", "events.k8s.io", "events"),
}

RECORD = ("patch", "", "configmaps")
"""Of the one ConfigMap with the last pass, in the install namespace."""

EVENTS = ("create", "events.k8s.io", "events")
"""The one right without which only the Events are missing."""

# What the server asks for inside another request: an apply that creates, and an owner reference that blocks. The audit
# log does not tell these; the tests that take them away do.
UNSEEN = {("create", "apps", "deployments"), ("update", MAHO, "takaras/finalizers")}


def rules_of(found: list[Json], kind: str, name: str = "takara-sync") -> list[Json]:
    (role,) = (each for each in found if (each["kind"], each["metadata"]["name"]) == (kind, name))
    rules: list[Json] = role["rules"]
    return rules


def rights_of(rules: list[Json]) -> set[tuple[str, str, str]]:
    assert all(set(rule) == {"apiGroups", "resources", "verbs"} for rule in rules)
    return {
        (verb, group, resource)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def do_the_main_job(tool: Installed, world: World) -> None:
    """Create, take over, repair over a foreign sidecar, leave a paused one alone, tell: all that a pass can do."""
    (old,) = world.create(takara("old", 2))
    world.post_deployment(as_the_go_operator(old, 2, image="busybox:1.0"), GO_OPERATOR)
    long = "long-" + 95 * "l"
    world.create(takara("new", 1), takara("paused", 1), takara(long, 0))
    world.post_deployment(as_the_go_operator(world.takara("paused"), 3), GO_OPERATOR)
    world.kubectl("annotate", "tk/paused", "maho.takara.org/paused=true")

    assert tool.converge().results == {long: "created", "new": "created", "old": "taken over", "paused": "skipped"}
    world.server.make_ready(world.namespace, "old")  # with another image it is rolled out
    world.settle()
    tool.converge()
    assert {write.resource for write in tool.converge().writes} == {"configmaps"}  # the last pass; nothing else
    assert world.status("new")["nodes"] == world.pods("new")
    assert len(world.status("old")["nodes"]) == 2

    world.merge("old", {"spec": {"size": 3}})
    world.kubectl("set", "image", "deployment/new", "takara=nginx:1.25")
    sidecar = {"name": "side", "image": "side", "env": [{"name": "A", "value": "1"}]}
    patch = {"spec": {"template": {"spec": {"containers": [sidecar], "nodeSelector": {"a": "b"}}}}}
    path = f"/apis/apps/v1/namespaces/{world.namespace}/deployments/new"
    world.call("PATCH", path, patch, content_type="application/strategic-merge-patch+json")
    world.kubectl("set", "resources", "deployment/new", "-c=takara", "--limits=memory=1Gi")

    assert tool.converge().results == {long: "unchanged", "new": "updated", "old": "updated", "paused": "skipped"}
    containers = world.deployment("new")["spec"]["template"]["spec"]["containers"]
    assert {each["name"]: each["image"] for each in containers} == {"takara": "busybox", "side": "side"}
    (container,) = world.deployment("old")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "busybox"
    assert world.deployment("old")["spec"]["replicas"] == 3


def installed(server: ControlPlane, without: tuple[str, str, str] | None = None) -> tuple[Installed, World]:
    """takara-sync with a Role in a namespace of its own, less one right, once that is known to the server."""
    world = World(server, server.namespace())
    found = objects("--install-namespace", world.namespace, "--watch-namespace", world.namespace)
    mine = [each for each in without_workload(found) if each["metadata"].get("namespace") == world.namespace]
    if without:
        rules = rules_of(mine, "Role")
        for rule in rules:
            if (without[1], without[2]) == (rule["apiGroups"][0], rule["resources"][0]):
                rule["verbs"] = [verb for verb in rule["verbs"] if verb != without[0]]
        rules[:] = [rule for rule in rules if rule["verbs"]]
        assert rights_of(rules) == SHIPPED - {without}
    apply(server, mine)
    tool = Installed(server, world.namespace, world.namespace)
    lacking = 1 if without else 0
    wait_until(
        lambda: "" if len(denied(tool.json("check"))) == lacking else "rights are not known yet", within=SETTLE_SECONDS
    )
    return tool, world


def test_without_the_right_to_record_the_last_pass_only_a_warning_tells(strict: ControlPlane) -> None:
    tool, world = installed(strict)
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{world.namespace}/rolebindings/takara-sync-last-pass"
    world.call("DELETE", path)
    lacking = f"may patch configmaps/takara-sync in namespace {world.namespace}"
    wait_until(lambda: "" if missing(tool.json("check")) == [lacking] else "still bound", within=SETTLE_SECONDS)
    world.create(takara("one"))

    done = tool.converge("--log-level=warning")

    assert done.results == {"one": "created"}
    (line,) = done.log
    assert line["level"] == "warning"
    assert f'cannot patch resource "configmaps" in API group "" in the namespace "{world.namespace}"' in line["message"]
    assert "Grant the missing right" in line["message"]


# ------------------------------------------------------------------ exactness


def missing(checked: Pass) -> list[str]:
    return [check["what"] for check in checked.report["checks"] if not check["ok"]]


def denied(checked: Pass) -> list[str]:
    """With the right that is not needed."""
    return [check["what"] for check in checked.report["checks"] if "not allowed" in check["detail"]]


def test_the_rules_are_these_and_no_others_and_check_asks_for_them() -> None:
    everywhere = rules_of(objects(), "ClusterRole")
    assert (
        rights_of(everywhere)
        == SHIPPED
        == {(each.verb, each.group, "/".join(filter(None, each[2:]))) for each in RIGHTS}
    )
    assert sum(len(rule["verbs"]) * len(rule["resources"]) for rule in everywhere) == len(SHIPPED)
    assert rules_of(objects(), "Role", "takara-sync-last-pass") == [
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["takara-sync"], "verbs": ["patch"]}
    ]
    assert (LAST_PASS.verb, LAST_PASS.group, LAST_PASS.resource) == RECORD
    in_two = [each for each in objects("--watch-namespace", "a,b") if each["metadata"]["name"] == "takara-sync"]
    kinds = [each["kind"] for each in in_two]
    assert kinds.count("Role") == kinds.count("RoleBinding") == 2
    assert not {"ClusterRole", "ClusterRoleBinding"} & set(kinds)
    assert rules_of(in_two[:-2], "Role") == everywhere


def test_with_the_cluster_role_the_main_job_is_done_and_every_right_is_used(strict: ControlPlane) -> None:
    world = World(strict, strict.namespace())
    tool = Installed(strict, "takara-system", world.namespace)
    before = len(strict.requests(tool.user))
    do_the_main_job(tool, world)
    assert rights_used(strict, tool, before) == SHIPPED - UNSEEN | {RECORD}
    assert missing(Installed(strict, "takara-system").json("check")) == []


def test_with_the_role_of_one_namespace_too_and_no_other_is_read(strict: ControlPlane) -> None:
    tool, world = installed(strict)
    before = len(strict.requests(tool.user))
    do_the_main_job(tool, world)
    assert rights_used(strict, tool, before) == SHIPPED - UNSEEN | {RECORD}
    assert {each.namespace for each in strict.requests(tool.user) if each.resource in ("takaras", "pods")} == {
        world.namespace
    }
    everywhere = Installed(strict, world.namespace)
    checked = everywhere.json("check")
    assert (checked.code, len(missing(checked)), len(denied(checked))) == (1, len(SHIPPED) - 1, len(SHIPPED))
    assert all(what.endswith(" in all namespaces") for what in missing(checked))
    closed = World(strict, strict.namespace())
    closed.create(takara("one"))

    done = everywhere.json("once", "-n", world.namespace, "-n", closed.namespace)

    assert (done.code, [write.resource for write in done.writes]) == (3, ["configmaps"])
    message = done.report["error"]["message"]
    assert f"Cannot list deployments in namespace {closed.namespace}" in message
    assert f"in namespace {world.namespace}:" not in message
    assert message in done.log[-1]["message"]
    assert done.report["emptyNamespaces"] == []  # nobody knows what is in them


def rights_used(server: ControlPlane, tool: Installed, since: int) -> set[tuple[str, str, str]]:
    """What the server's audit log holds of the ServiceAccount."""
    groups = {"takaras": MAHO, "deployments": "apps", "pods": "", "events": "events.k8s.io", "configmaps": ""}
    return {
        (each.verb, groups[each.resource], "/".join(filter(None, (each.resource, each.subresource))))
        for each in server.requests(tool.user)[since:]
        if each.resource
    }


def test_without_the_right_to_create_events_there_is_one_warning_and_everything_else_is_done(
    strict: ControlPlane,
) -> None:
    tool, world = installed(strict, without=EVENTS)
    checked = tool.json("check")
    assert (checked.code, missing(checked)) == (0, [])
    assert denied(checked) == [f"may create events.events.k8s.io in namespace {world.namespace}"]
    do_the_main_job(tool, world)
    world.create(takara("more", 1), takara("most", 1))
    done = tool.converge()
    assert [one.resource for one in done.requests if one.verb == "create"] in (["events"], ["events"] * 2)
    warnings = [line["message"] for line in done.log if line["level"] == "warning"]
    assert len(warnings) == 1
    assert all(word in warnings[0] for word in ("no more Events", "cannot create", world.namespace)), warnings


@pytest.mark.parametrize("right", sorted(SHIPPED - {EVENTS}), ids=" ".join)
def test_without_any_one_right_check_and_the_pass_say_which_and_the_main_job_fails(
    strict: ControlPlane, right: tuple[str, str, str]
) -> None:
    """With verb, resource and namespace."""
    verb, group, resource = right
    tool, world = installed(strict, without=right)
    checked = tool.json("check")
    qualified = f"{resource}.{group}".rstrip(".")
    assert (checked.code, missing(checked)) == (1, [f"may {verb} {qualified} in namespace {world.namespace}"])
    with pytest.raises(AssertionError, match=r"cannot|forbidden|not allowed"):
        do_the_main_job(tool, world)
    done = tool.once()
    assert done.code == (3 if verb == "list" else 1)
    failed = [line["message"] for line in done.report["takaras"] if line["result"] == "failed"]
    said = done.report["error"]["message"] if verb == "list" else failed[0]
    words = ("blockOwnerDeletion",) if verb == "update" else (verb, resource, world.namespace)
    assert all(word in said and word in done.stderr for word in words), said


# ------------------------------------------------------------------ people

ROLES = {
    "view": {"get", "list", "watch"},
    "edit": {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
    "admin": {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
}


@pytest.mark.parametrize("role", ROLES)
def test_the_clusters_own_roles_know_takaras(strict: ControlPlane, role: str) -> None:
    path = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{role}"

    def verbs(resource: str) -> set[str]:
        rules = strict.call("GET", path).body["rules"]
        return {verb for rule in rules for verb in rule["verbs"] if resource in rule.get("resources", ())}

    wait_until(lambda: "" if verbs("takaras") == ROLES[role] else f"{verbs('takaras')}", within=SETTLE_SECONDS)
    assert verbs("takaras/status") == {"get", "list", "watch"}
    assert verbs("takaras/finalizers") == set()
    assert verbs("takaras/scale") == ({"get", "list", "watch"} | (set() if role == "view" else {"update", "patch"}))
