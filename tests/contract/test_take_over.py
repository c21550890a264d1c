"""Taking Deployments over: from the Go operator, and from cleared managedFields."""

from __future__ import annotations

from typing import Any

from tests.contract.talk import (
    JSON_PATCH,
    OUR_FIELDS,
    Talk,
    altered,
    containers,
    deployment,
    entry,
    generation,
    ours,
    owned,
    owner,
    refusal,
    renamed,
    takara,
    version,
)

CONTAINER = 'spec/template/spec/containers/k:{"name":"takara"}'
RESTARTED = {"kubectl.kubernetes.io/restartedAt": "now"}
RESTART = {"spec": {"template": {"metadata": {"annotations": RESTARTED}}}}
OPERATOR = "fieldManager=takara-operator"


def by_the_go_operator(talk: Talk) -> dict[str, Any]:
    """A Deployment as the Go operator left it: created by an Update manager, without labels of its own."""
    body = deployment(ownerReferences=[owner(talk.create("takaras", takara()))])
    talk.create("deployments", altered(body, "metadata.labels"), query=OPERATOR)
    return talk.settled()


def ours_on(made: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """The manifest as we apply it, with the owner that the Deployment has already."""
    return altered(body, "metadata.ownerReferences", made["metadata"]["ownerReferences"])


def test_taking_over_an_identical_template_is_no_rollout(talk: Talk) -> None:
    made = by_the_go_operator(talk)
    after = talk.applied(ours_on(made, deployment()))
    assert generation(after) == 1
    assert after["spec"] == made["spec"]


def test_without_a_migration_both_containers_live_on(talk: Talk) -> None:
    made = by_the_go_operator(talk)
    talk.applied(ours_on(made, deployment()))
    assert set(containers(talk.applied(ours_on(made, renamed())))) == {"takara", "renamed"}


def migration(live: dict[str, Any], fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"op": "test", "path": "/metadata/uid", "value": live["metadata"]["uid"]},
        {"op": "replace", "path": "/metadata/managedFields", "value": fields},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version(live)},
    ]


def test_a_migrated_entry_makes_the_old_container_go(talk: Talk) -> None:
    live = by_the_go_operator(talk)
    entries = [
        {**one, "manager": "takara-sync", "operation": "Apply"} if one["manager"] == "takara-operator" else one
        for one in live["metadata"]["managedFields"]
    ]
    moved = talk.patched("deployments", migration(live, entries), content_type=JSON_PATCH)
    assert generation(moved) == 1
    assert entry(moved, "takara-operator", "Update") is None
    assert owned(moved) >= {"spec/replicas", "spec/selector", f"{CONTAINER}/image"}
    after = talk.applied(ours_on(live, renamed()))
    assert containers(after) == {"renamed": "busybox"}
    fields = {path.replace('"takara"', '"renamed"') for path in OUR_FIELDS}
    uid = live["metadata"]["ownerReferences"][0]["uid"]
    assert owned(after) == {*fields, f'metadata/ownerReferences/k:{{"uid":"{uid}"}}'}


def test_a_migration_of_another_version_is_409(talk: Talk) -> None:
    live = by_the_go_operator(talk)
    talk.patched("deployments", {"metadata": {"labels": {"a": "b"}}})
    patch = migration(live, live["metadata"]["managedFields"])
    assert refusal(talk.patch("deployments", patch, content_type=JSON_PATCH)) == (409, "Conflict", [])


def cleared(talk: Talk) -> dict[str, Any]:
    talk.strategic(RESTART)
    return talk.patched("deployments", {"metadata": {"managedFields": [{}]}})


def test_clearing_managed_fields_moves_no_generation_and_no_later_write_makes_an_entry(talk: Talk) -> None:
    talk.applied(deployment())
    before = talk.settled()
    after = talk.patched("deployments", {"metadata": {"managedFields": [{}]}})
    assert ("managedFields" in after["metadata"], generation(after)) == (False, generation(before))
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
    assert generation(talk.applied(deployment())) == generation(live)
    after = talk.applied(renamed())
    assert containers(after) == {"renamed": "busybox"}
    assert after["spec"]["template"]["metadata"]["annotations"] == RESTARTED
