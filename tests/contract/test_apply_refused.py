"""Server-side apply, refused: conflicts of owners and fields, malformed bodies, what a schema forbids."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.talk import (
    Talk,
    containers,
    deployment,
    owner,
    refusal,
    takara,
)


def test_another_controller_owner_is_422(talk: Talk) -> None:
    first, second = talk.create("takaras", takara("a")), talk.create("takaras", takara("b"))
    talk.applied(deployment(ownerReferences=[owner(first)]), manager="other")
    answer = talk.apply(deployment(ownerReferences=[owner(second)]))
    assert refusal(answer) == (422, "Invalid", [("FieldValueInvalid", "metadata.ownerReferences")])


def test_another_owner_that_is_no_controller_stays(talk: Talk) -> None:
    first, second = talk.create("takaras", takara("a")), talk.create("takaras", takara("b"))
    talk.create("deployments", deployment(ownerReferences=[owner(first, controller=False)]))
    after = talk.applied(deployment(ownerReferences=[owner(second)]))
    assert [one["name"] for one in after["metadata"]["ownerReferences"]] == ["a", "b"]


def test_a_changed_selector_is_422(talk: Talk) -> None:
    talk.applied(deployment())
    body = deployment()
    body["spec"]["selector"]["matchLabels"] = {"app": "takara"}
    answer = talk.apply(body)
    assert refusal(answer) == (422, "Invalid", [("FieldValueInvalid", "spec.selector")])


def test_a_long_label_value_is_422(talk: Talk) -> None:
    status, reason, causes = refusal(talk.apply(deployment("x" * 100)))
    assert (status, reason) == (422, "Invalid")
    assert ("FieldValueInvalid", "metadata.labels") in causes


def test_a_missing_namespace_is_404(talk: Talk) -> None:
    talk.namespace = "nowhere"
    answer = talk.apply(deployment())
    assert refusal(answer) == (404, "NotFound", [])
    assert answer.body["details"] == {"name": "nowhere", "kind": "namespaces"}


MALFORMED: dict[str, dict[str, Any]] = {
    "unknown field": {"containers": [{"name": "takara", "image": "busybox", "imagee": "typo"}]},
    "wrong type": {"containers": [{"name": "takara", "image": 5}]},
    "duplicate": {"containers": [{"name": "a", "image": "busybox"}, {"name": "a", "image": "busybox"}]},
    "no list": {"containers": {"name": "takara"}},
    "quantity": {"containers": [{"name": "takara", "image": "busybox", "resources": {"limits": {"cpu": "much"}}}]},
}


@pytest.mark.parametrize("existing", [False, True], ids=["new", "existing"])
@pytest.mark.parametrize("pod", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_template_is_500_without_reason(talk: Talk, pod: Any, existing: bool) -> None:
    if existing:
        talk.applied(deployment())
    body = deployment()
    body["spec"]["template"]["spec"] = pod
    for query in ("", "&fieldValidation=Strict"):
        answer = talk.apply(body, query=query)
        assert refusal(answer) == (500, "", [])
        assert answer.body["message"]


def test_the_same_template_created_strictly_is_precise(talk: Talk) -> None:
    for pod in MALFORMED.values():
        body = deployment()
        body["spec"]["template"]["spec"] = pod
        path = talk.path("deployments", query="dryRun=All&fieldValidation=Strict")
        assert talk.server.call("POST", path, body).status in (400, 422)


def test_a_container_without_a_name_is_422(talk: Talk) -> None:
    body = deployment()
    body["spec"]["template"]["spec"] = {"containers": [{"image": "busybox"}]}
    where = "spec.template.spec.containers[0].name"
    assert refusal(talk.apply(body)) == (422, "Invalid", [("FieldValueRequired", where)])


def test_an_empty_container_list_is_422(talk: Talk) -> None:
    body = deployment()
    body["spec"]["template"]["spec"] = {"containers": []}
    where = "spec.template.spec.containers"
    assert refusal(talk.apply(body)) == (422, "Invalid", [("FieldValueRequired", where)])


def test_an_apply_needs_a_manager(talk: Talk) -> None:
    path = talk.path("deployments", "one")
    answer = talk.server.call("PATCH", path, deployment(), content_type="application/apply-patch+yaml")
    assert refusal(answer) == (422, "Invalid", [("FieldValueRequired", "fieldManager")])


def test_an_apply_takes_yaml(talk: Talk) -> None:
    text = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: one}
spec:
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: busybox}]}}
"""
    path = talk.path("deployments", "one", query="fieldManager=somebody")
    answer = talk.server.call("PATCH", path, text, content_type="application/apply-patch+yaml")
    assert (answer.status, containers(answer.body)) == (201, {"c": "busybox"})


@pytest.mark.parametrize("text", ["{", "[]", "a: b: c", ""])
def test_a_broken_apply_is_400(talk: Talk, text: str) -> None:
    path = talk.path("deployments", "one", query="fieldManager=somebody")
    answer = talk.server.call("PATCH", path, text, content_type="application/apply-patch+yaml")
    assert refusal(answer)[:2] == (400, "BadRequest")


def test_managed_fields_in_an_applied_body_are_400(talk: Talk) -> None:
    made = talk.applied(deployment())
    answer = talk.apply(deployment(managedFields=made["metadata"]["managedFields"]))
    assert refusal(answer) == (400, "BadRequest", [])


@pytest.mark.parametrize(
    "spec",
    [{"size": "3"}, {"size": 3, "colour": "red"}],
    ids=["wrong type", "unknown field"],
)
def test_a_malformed_takara_by_apply_is_500_without_reason(talk: Talk, spec: dict[str, Any]) -> None:
    assert refusal(talk.apply(takara(**spec), plural="takaras")) == (500, "", [])


def test_a_takara_out_of_bounds_by_apply_is_422(talk: Talk) -> None:
    answer = talk.apply(takara(size=-1), plural="takaras")
    assert refusal(answer)[:2] == (422, "Invalid")
    assert ("FieldValueInvalid", "spec.size") in refusal(answer)[2]
