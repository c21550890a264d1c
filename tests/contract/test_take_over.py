"""Taking Deployments over: from the Go operator, and from cleared managedFields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.contract.talk import (
    JSON_PATCH,
    OUR_FIELDS,
    Talk,
    containers,
    deployment,
    entry,
    generation,
    ours,
    owned,
    owner,
    takara,
    version,
    with_image,
)

if TYPE_CHECKING:
    from collections.abc import Callable

CONTAINER = 'spec/template/spec/containers/k:{"name":"takara"}'
RESTART = {"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}}}
OPERATOR = "fieldManager=takara-operator"


def by_the_go_operator(talk: Talk) -> dict[str, Any]:
    """A Deployment as the Go operator left it: created by an Update manager, without labels of its own."""
    body = deployment(ownerReferences=[owner(talk.create("takaras", takara()))])
    del body["metadata"]["labels"]
    path = talk.path("deployments", query=OPERATOR)
    answer = talk.server.call("POST", path, body)
    assert answer.status == 201, answer.body
    return talk.settled()


def ours_on(made: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    def body(**how: Any) -> dict[str, Any]:
        return deployment(ownerReferences=made["metadata"]["ownerReferences"], **how)

    return body


def test_taking_over_an_identical_template_is_no_rollout(talk: Talk) -> None:
    made = by_the_go_operator(talk)
    after = talk.applied(ours_on(made)())
    assert generation(after) == 1
    assert after["spec"] == made["spec"]


def test_without_a_migration_both_containers_live_on(talk: Talk) -> None:
    made = by_the_go_operator(talk)
    talk.applied(ours_on(made)())
    body = ours_on(made)()
    body["spec"]["template"]["spec"]["containers"][0]["name"] = "renamed"
    assert set(containers(talk.applied(body))) == {"takara", "renamed"}


def migration(live: dict[str, Any], fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"op": "test", "path": "/metadata/uid", "value": live["metadata"]["uid"]},
        {"op": "replace", "path": "/metadata/managedFields", "value": fields},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version(live)},
    ]


def test_a_migrated_entry_makes_the_old_container_go(talk: Talk) -> None:
    live = by_the_go_operator(talk)
    fields = [
        {**one, "manager": "takara-sync", "operation": "Apply"} if one["manager"] == "takara-operator" else one
        for one in live["metadata"]["managedFields"]
    ]
    moved = talk.patched("deployments", migration(live, fields), content_type=JSON_PATCH)
    assert generation(moved) == 1
    assert entry(moved, "takara-operator", "Update") is None
    assert owned(moved) >= {"spec/replicas", "spec/selector", f"{CONTAINER}/image"}
    body = ours_on(live)()
    body["spec"]["template"]["spec"]["containers"][0]["name"] = "renamed"
    after = talk.applied(body)
    assert containers(after) == {"renamed": "busybox"}
    renamed = {path.replace('"takara"', '"renamed"') for path in OUR_FIELDS}
    uid = live["metadata"]["ownerReferences"][0]["uid"]
    assert owned(after) == {*renamed, f'metadata/ownerReferences/k:{{"uid":"{uid}"}}'}


def test_a_migration_of_another_version_is_409(talk: Talk) -> None:
    live = by_the_go_operator(talk)
    talk.patched("deployments", {"metadata": {"labels": {"a": "b"}}})
    patch = migration(live, live["metadata"]["managedFields"])
    answer = talk.patch("deployments", patch, content_type=JSON_PATCH)
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")


def cleared(talk: Talk) -> dict[str, Any]:
    talk.strategic(RESTART)
    talk.patched("deployments", {"metadata": {"managedFields": [{}]}})
    after = talk.get("deployments")
    assert entry(after) is None
    return after


def test_clearing_managed_fields_moves_no_generation(talk: Talk) -> None:
    talk.applied(deployment())
    before = talk.settled()
    after = talk.patched("deployments", {"metadata": {"managedFields": [{}]}})
    assert "managedFields" not in after["metadata"]
    assert generation(after) == generation(before)


def test_a_write_after_clearing_makes_no_entry(talk: Talk) -> None:
    talk.applied(deployment())
    talk.settled()
    talk.patched("deployments", {"metadata": {"managedFields": [{}]}})
    after = talk.patched("deployments", {"metadata": {"labels": {"a": "b"}}})
    assert entry(after, "somebody", "Update") is None


def test_the_first_apply_after_clearing_makes_before_first_apply(talk: Talk) -> None:
    made = talk.applied(deployment())
    talk.settled()
    live = cleared(talk)
    after = talk.applied(deployment())
    assert (ours(after), generation(after)) == (ours(made), generation(live))
    before = owned(after, "before-first-apply", "Update")
    restarted = "spec/template/metadata/annotations/kubectl.kubernetes.io/restartedAt"
    assert {restarted, "spec/replicas", "spec/selector", CONTAINER, f"{CONTAINER}/image"} <= before


def test_taking_before_first_apply_apart_frees_the_container(talk: Talk) -> None:
    talk.applied(deployment())
    talk.settled()
    cleared(talk)
    talk.applied(deployment())
    talk.server.make_ready(talk.namespace, "one")  # the restart would never end without
    live = talk.settled()
    fields = live["metadata"]["managedFields"]
    for one in fields:
        if one["manager"] == "before-first-apply":
            spec = one["fieldsV1"]["f:spec"]
            del spec["f:replicas"], spec["f:selector"]
            del spec["f:template"]["f:metadata"]["f:labels"], spec["f:template"]["f:spec"]["f:containers"]
    moved = talk.patched("deployments", migration(live, fields), content_type=JSON_PATCH)
    assert generation(moved) == generation(live)
    same = talk.applied(deployment())
    assert generation(same) == generation(live)
    body = deployment()
    body["spec"]["template"]["spec"]["containers"][0]["name"] = "renamed"
    after = talk.applied(body)
    assert containers(after) == {"renamed": "busybox"}
    annotations = after["spec"]["template"]["metadata"]["annotations"]
    assert "kubectl.kubernetes.io/restartedAt" in annotations


def test_a_restart_survives_our_apply(talk: Talk) -> None:
    talk.applied(deployment())
    talk.strategic(RESTART)
    after = talk.applied(with_image("other"))
    annotations = after["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {"kubectl.kubernetes.io/restartedAt": "now"}


def test_a_replaced_deployment_is_another_one(talk: Talk) -> None:
    made = talk.applied(deployment())
    talk.delete("deployments")
    again = talk.create("deployments", with_image("other"))
    assert generation(again) == 1
    assert again["metadata"]["uid"] != made["metadata"]["uid"]
    assert owned(again) == set()


def test_entries_stand_in_order(talk: Talk) -> None:
    by_the_go_operator(talk)
    talk.applied(deployment(replicas=4))
    talk.patched("deployments", {"metadata": {"annotations": {"a": "b"}}})
    told = [one["operation"] for one in talk.settled()["metadata"]["managedFields"]]
    assert told == sorted(told)
