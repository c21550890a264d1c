"""Server-side apply of Deployments, as the product sends it: creating, conflicts, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.talk import (
    JSON_PATCH,
    OUR_FIELDS,
    OURS,
    Talk,
    deployment,
    entry,
    generation,
    owned,
    owner,
    refusal,
    takara,
    version,
)

OTHER_UID = "00000000-0000-4000-8000-000000000000"


def create_only(name: str = "one", **more: Any) -> dict[str, Any]:
    return deployment(name, resourceVersion="1", **more)


def test_an_apply_creates_with_201_and_our_entry_alone(talk: Talk) -> None:
    answer = talk.apply(deployment())
    assert answer.status == 201
    (ours,) = answer.body["metadata"]["managedFields"]
    assert {key: ours[key] for key in ("manager", "operation", "apiVersion", "fieldsType")} == {
        "manager": OURS[0],
        "operation": OURS[1],
        "apiVersion": OURS[2],
        "fieldsType": "FieldsV1",
    }
    assert "subresource" not in ours
    assert owned(answer.body) == OUR_FIELDS


def test_fields_v1_as_it_is_written(talk: Talk) -> None:
    ours = entry(talk.applied(deployment()))
    assert ours is not None
    container: dict[str, Any] = {".": {}, "f:command": {}, "f:image": {}, "f:name": {}}
    labels: dict[str, Any] = {"f:labels": {"f:app": {}, "f:takara_cr": {}}}
    assert ours["fieldsV1"] == {
        "f:metadata": labels,
        "f:spec": {
            "f:replicas": {},
            "f:selector": {},
            "f:template": {
                "f:metadata": labels,
                "f:spec": {"f:containers": {'k:{"name":"takara"}': container}},
            },
        },
    }


def test_an_owner_is_owned_by_its_uid(talk: Talk) -> None:
    of = talk.create("takaras", takara())
    ours = owned(talk.applied(deployment(ownerReferences=[owner(of)])))
    assert ours == {*OUR_FIELDS, f'metadata/ownerReferences/k:{{"uid":"{of["metadata"]["uid"]}"}}'}


def test_an_apply_that_changes_nothing_moves_nothing(talk: Talk) -> None:
    talk.applied(deployment())
    made = talk.settled()
    answer = talk.apply(deployment())
    assert (answer.status, answer.body) == (200, made)


def test_an_apply_with_the_right_uid_and_version(talk: Talk) -> None:
    talk.applied(deployment())
    made = talk.settled()
    known = {"uid": made["metadata"]["uid"], "resourceVersion": version(made)}
    after = talk.applied(deployment(replicas=5, **known))
    assert (after["spec"]["replicas"], generation(after)) == (5, 2)


def test_create_only_creates_where_absent(talk: Talk) -> None:
    answer = talk.apply(create_only())
    assert (answer.status, owned(answer.body)) == (201, OUR_FIELDS)


def test_create_only_is_409_where_present(talk: Talk) -> None:
    talk.create("deployments", deployment())
    made = talk.settled()
    for force in (True, False):
        assert refusal(talk.apply(create_only(), force=force)) == (409, "Conflict", [])
    assert talk.get("deployments") == made


def test_any_version_creates_where_absent(talk: Talk) -> None:
    assert talk.apply(deployment(resourceVersion="999")).status == 201


def test_a_body_without_its_kind_is_400(talk: Talk) -> None:
    path = talk.path("deployments", "one", query="fieldManager=somebody")
    for key in ("apiVersion", "kind"):
        body = {name: part for name, part in deployment().items() if name != key}
        answer = talk.server.call("PATCH", path, body, content_type="application/apply-patch+yaml")
        assert refusal(answer) == (400, "BadRequest", [])


@pytest.mark.parametrize("text", ["0", ""])
def test_other_versions_do_not_only_create(talk: Talk, text: str) -> None:
    talk.create("deployments", deployment())
    assert talk.apply(deployment(resourceVersion=text)).status == 200


def test_a_stale_version_is_409(talk: Talk) -> None:
    made = talk.applied(deployment())
    talk.patched("deployments", {"metadata": {"labels": {"a": "b"}}})
    answer = talk.apply(deployment(uid=made["metadata"]["uid"], resourceVersion=version(made)))
    assert refusal(answer) == (409, "Conflict", [])


def test_another_incarnations_uid_where_present_is_422(talk: Talk) -> None:
    talk.applied(deployment())
    answer = talk.apply(deployment(uid=OTHER_UID))
    assert refusal(answer) == (422, "Invalid", [("FieldValueInvalid", "metadata.uid")])


def test_another_incarnations_uid_and_version_where_present_is_409(talk: Talk) -> None:
    talk.applied(deployment())
    answer = talk.apply(deployment(uid=OTHER_UID, resourceVersion="1"))
    assert refusal(answer) == (409, "Conflict", [])


def test_a_uid_where_absent_is_409(talk: Talk) -> None:
    answer = talk.apply(deployment(uid=OTHER_UID))
    assert refusal(answer) == (409, "Conflict", [])
    assert "uid mismatch" in answer.body["message"]
    assert talk.list("deployments")["items"] == []


def test_an_identical_deployment_of_nobody_is_adopted_silently(talk: Talk) -> None:
    talk.create("deployments", deployment())
    answer = talk.apply(deployment(), force=False)
    assert (answer.status, generation(answer.body), owned(answer.body)) == (200, 1, OUR_FIELDS)


def test_the_same_manager_never_conflicts_with_itself(talk: Talk) -> None:
    talk.applied(deployment(replicas=5))
    assert talk.apply(deployment(replicas=2), force=False).body["spec"]["replicas"] == 2


def test_without_force_another_managers_value_is_a_conflict(talk: Talk) -> None:
    talk.applied(deployment())
    talk.patched("deployments", {"spec": {"replicas": 9}})
    answer = talk.apply(deployment(), force=False)
    assert refusal(answer) == (409, "Conflict", [("FieldManagerConflict", ".spec.replicas")])
    (told,) = answer.body["details"]["causes"]
    assert told["message"] == 'conflict with "somebody" using apps/v1'
    assert answer.body["message"] == (
        'Apply failed with 1 conflict: conflict with "somebody" using apps/v1: .spec.replicas'
    )
    assert talk.get("deployments")["spec"]["replicas"] == 9


def test_a_conflict_names_the_field_in_a_list_and_the_subresource(talk: Talk) -> None:
    talk.applied(deployment())
    container = {"name": "takara", "image": "other"}
    patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
    talk.patched("deployments", patch, content_type="application/strategic-merge-patch+json")
    talk.patched("deployments", {"spec": {"replicas": 9}}, sub="scale")
    answer = talk.apply(deployment(), force=False)
    where = '.spec.template.spec.containers[name="takara"].image'
    causes = {(one["field"], one["message"]) for one in answer.body["details"]["causes"]}
    assert (answer.status, causes) == (
        409,
        {
            (where, 'conflict with "somebody" using apps/v1'),
            (".spec.replicas", 'conflict with "somebody" with subresource "scale" using apps/v1'),
        },
    )


def test_with_force_the_value_comes_back(talk: Talk) -> None:
    made = talk.applied(deployment())
    talk.patched("deployments", {"spec": {"replicas": 9}})
    after = talk.applied(deployment())
    assert (after["spec"]["replicas"], generation(after)) == (3, 3)
    assert entry(after, "somebody", "Update") is None
    ours, before = entry(after), entry(made)
    assert ours is not None
    assert before is not None
    assert ours["fieldsV1"] == before["fieldsV1"]


def test_a_dry_run_of_an_apply_stores_nothing(talk: Talk) -> None:
    answer = talk.apply(deployment(), query="&dryRun=All")
    assert (answer.status, owned(answer.body)) == (201, OUR_FIELDS)
    assert talk.list("deployments")["items"] == []
    talk.applied(deployment())
    made = talk.settled()
    assert talk.applied(deployment(replicas=9), query="&dryRun=All")["spec"]["replicas"] == 9
    assert talk.get("deployments") == made


def test_a_json_patch_of_an_absent_object_is_404(talk: Talk) -> None:
    answer = talk.patch("deployments", [], content_type=JSON_PATCH)
    assert refusal(answer) == (404, "NotFound", [])


def test_kubectl_applies_a_takara_server_side(talk: Talk) -> None:
    made = talk.applied(takara(), plural="takaras", manager="kubectl")
    assert owned(made, "kubectl") == {"spec/size"}
    assert made["status"] == {"observedGeneration": -1}
    talk.patched("takaras", {"spec": {"size": 9}})
    answer = talk.apply(takara(), plural="takaras", manager="kubectl", force=False)
    assert refusal(answer) == (409, "Conflict", [("FieldManagerConflict", ".spec.size")])
