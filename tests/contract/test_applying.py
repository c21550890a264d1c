"""Server-side apply of Deployments, as the product sends it: creating, conflicts, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.talk import (
    OTHER_UID,
    OUR_FIELDS,
    OURS,
    Json,
    Talk,
    deployment,
    generation,
    owned,
    owner,
    refusal,
    takara,
    version,
    with_image,
)


def test_an_apply_creates_with_201_and_our_entry_alone(talk: Talk) -> None:
    answer = talk.apply(deployment())
    assert answer.status == 201
    (only,) = answer.body["metadata"]["managedFields"]
    identity = only["manager"], only["operation"], only["apiVersion"], only.get("subresource", "")
    assert (identity, only["fieldsType"]) == (OURS, "FieldsV1")
    assert owned(answer.body) == OUR_FIELDS
    container: dict[str, Any] = {".": {}, "f:command": {}, "f:image": {}, "f:name": {}}
    labels: dict[str, Any] = {"f:labels": {"f:app": {}, "f:takara_cr": {}}}
    template = {"f:metadata": labels, "f:spec": {"f:containers": {'k:{"name":"takara"}': container}}}
    spec = {"f:replicas": {}, "f:selector": {}, "f:template": template}
    assert only["fieldsV1"] == {"f:metadata": labels, "f:spec": spec}


def test_an_owner_is_owned_by_its_uid_and_a_finalizer_by_its_value(talk: Talk) -> None:
    of = talk.create("takaras", takara())
    made = talk.applied(deployment(ownerReferences=[owner(of)], finalizers=["example.org/a"]))
    uid = f'metadata/ownerReferences/k:{{"uid":"{of["metadata"]["uid"]}"}}'
    assert owned(made) == {*OUR_FIELDS, uid, 'metadata/finalizers/v:"example.org/a"'}
    both = talk.applied(deployment(finalizers=["example.org/b"]), manager="other")
    assert both["metadata"]["finalizers"] == ["example.org/a", "example.org/b"]
    assert talk.applied(deployment())["metadata"]["finalizers"] == ["example.org/b"]
    talk.patched("deployments", {"metadata": {"finalizers": None}})


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
    assert refusal(talk.apply(deployment(replicas=6, **known))) == (409, "Conflict", [])


Refusal = tuple[int, str, list[tuple[str, str]]]
CONFLICT: Refusal = (409, "Conflict", [])
DONE: Refusal = (200, "", [])
BOUND: list[tuple[bool, Json, Refusal]] = [
    (False, {"resourceVersion": "1"}, (201, "", [])),
    (False, {"resourceVersion": "999"}, (201, "", [])),
    (False, {"uid": OTHER_UID}, CONFLICT),
    (True, {"resourceVersion": "0"}, DONE),
    (True, {"resourceVersion": ""}, DONE),
    (True, {"resourceVersion": "1"}, CONFLICT),
    (True, {"uid": OTHER_UID}, (422, "Invalid", [("FieldValueInvalid", "metadata.uid")])),
    (True, {"uid": OTHER_UID, "resourceVersion": "1"}, CONFLICT),
]


@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize(("exists", "bound", "expected"), BOUND)
def test_what_an_apply_is_bound_to(talk: Talk, exists: bool, bound: Json, expected: object, force: bool) -> None:
    before = []
    if exists:
        talk.create("deployments", deployment())
        talk.settled()
        before = talk.list("deployments")["items"]
    answer = talk.apply(deployment(**bound), force=force)
    assert refusal(answer) == expected
    assert answer.status < 300 or talk.list("deployments")["items"] == before


def test_an_identical_deployment_of_nobody_is_adopted_silently(talk: Talk) -> None:
    talk.create("deployments", deployment())
    answer = talk.apply(deployment(), force=False)
    assert (answer.status, generation(answer.body), owned(answer.body)) == (200, 1, OUR_FIELDS)


def test_without_force_another_managers_value_is_a_conflict(talk: Talk) -> None:
    talk.applied(deployment())
    talk.patched("deployments", {"spec": {"replicas": 9}})
    answer = talk.apply(deployment(), force=False)
    assert refusal(answer) == (409, "Conflict", [("FieldManagerConflict", ".spec.replicas")])
    words = 'conflict with "somebody" using apps/v1'
    assert [one["message"] for one in answer.body["details"]["causes"]] == [words]
    assert answer.body["message"] == f"Apply failed with 1 conflict: {words}: .spec.replicas"
    assert talk.get("deployments")["spec"]["replicas"] == 9


def test_a_conflict_names_each_field(talk: Talk) -> None:
    talk.applied(deployment())
    talk.strategic({"spec": {"template": {"spec": {"containers": [{"name": "takara", "image": "other"}]}}}})
    talk.patched("deployments", {"spec": {"replicas": 9}}, sub="scale")
    answer = talk.apply(deployment(), force=False)
    assert answer.status == 409
    assert {one["field"] for one in answer.body["details"]["causes"]} == {
        '.spec.template.spec.containers[name="takara"].image',
        ".spec.replicas",
    }


def test_a_dry_run_of_an_apply_stores_nothing(talk: Talk) -> None:
    answer = talk.apply(deployment(), query="&dryRun=All")
    assert (answer.status, owned(answer.body)) == (201, OUR_FIELDS)
    assert talk.list("deployments")["items"] == []
    talk.applied(deployment())
    made = talk.settled()
    assert talk.applied(with_image("other"), query="&dryRun=All")["metadata"]["generation"] == 2
    assert talk.get("deployments") == made


def test_kubectl_applies_a_takara_server_side(talk: Talk) -> None:
    made = talk.applied(takara(), plural="takaras", manager="kubectl")
    assert (owned(made, "kubectl"), made["status"]) == ({"spec/size"}, {"observedGeneration": -1})
    talk.patched("takaras", {"spec": {"size": 9}})
    answer = talk.apply(takara(), plural="takaras", manager="kubectl", force=False)
    assert refusal(answer) == (409, "Conflict", [("FieldManagerConflict", ".spec.size")])
