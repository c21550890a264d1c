"""Server-side apply, refused: conflicts of owners and fields, malformed manifests, what a schema forbids."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.talk import (
    APPLY,
    POD,
    Json,
    Talk,
    altered,
    deployment,
    owner,
    refusal,
    takara,
)

INVALID, REQUIRED = "FieldValueInvalid", "FieldValueRequired"


def test_another_controller_owner_is_422(talk: Talk) -> None:
    first, second = talk.create("takaras", takara("a")), talk.create("takaras", takara("b"))
    talk.applied(deployment(ownerReferences=[owner(first)]), manager="other")
    answer = talk.apply(deployment(ownerReferences=[owner(second)]))
    assert refusal(answer) == (422, "Invalid", [(INVALID, "metadata.ownerReferences")])


def test_another_owner_that_is_no_controller_stays(talk: Talk) -> None:
    first, second = talk.create("takaras", takara("a")), talk.create("takaras", takara("b"))
    talk.create("deployments", deployment(ownerReferences=[owner(first, controller=False)]))
    after = talk.applied(deployment(ownerReferences=[owner(second)]))
    assert [one["name"] for one in after["metadata"]["ownerReferences"]] == ["a", "b"]


def test_a_changed_selector_is_422(talk: Talk) -> None:
    talk.applied(deployment())
    answer = talk.apply(altered(deployment(), "spec.selector.matchLabels", {"app": "takara"}))
    assert refusal(answer) == (422, "Invalid", [(INVALID, "spec.selector")])


def test_a_missing_namespace_is_404(talk: Talk) -> None:
    talk.namespace = "nowhere"
    for answer in (talk.apply(deployment()), talk.post("deployments", deployment())):
        assert refusal(answer) == (404, "NotFound", [])
        assert answer.body["details"] == {"name": "nowhere", "kind": "namespaces"}


MALFORMED: dict[str, Json] = {
    "unknown field": {"containers": [{"name": "takara", "image": "busybox", "imagee": "typo"}]},
    "wrong type": {"containers": [{"name": "takara", "image": 5}]},
    "duplicate": {"containers": [{"name": "a", "image": "busybox"}, {"name": "a", "image": "busybox"}]},
    "no list": {"containers": {"name": "takara"}},
    "quantity": {"containers": [{"name": "takara", "image": "busybox", "resources": {"limits": {"cpu": "much"}}}]},
}


@pytest.mark.parametrize("pod", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_template_is_500_without_reason_and_precise_where_it_is_created(talk: Talk, pod: Json) -> None:
    body = altered(deployment(), POD, pod)
    assert talk.post("deployments", body, query="dryRun=All&fieldValidation=Strict").status in (400, 422)
    absent = talk.apply(body)
    talk.applied(deployment())
    for answer in (absent, talk.apply(body), talk.apply(body, query="&fieldValidation=Strict")):
        assert refusal(answer) == (500, "", [])
        assert answer.body["message"]


@pytest.mark.parametrize(
    ("pod", "where"),
    [({"containers": [{"image": "busybox"}]}, "containers[0].name"), ({"containers": []}, "containers")],
)
def test_what_is_required_is_422(talk: Talk, pod: Json, where: str) -> None:
    answer = talk.apply(altered(deployment(), POD, pod))
    assert refusal(answer) == (422, "Invalid", [(REQUIRED, f"spec.template.spec.{where}")])


@pytest.mark.parametrize("body", ["{", "[]", ""])
def test_a_broken_apply_is_400(talk: Talk, body: Any) -> None:
    assert refusal(talk.patch("deployments", body, content_type=APPLY))[:2] == (400, "BadRequest")


@pytest.mark.parametrize("spec", [{"size": "3"}, {"size": 3, "colour": "red"}], ids=["wrong type", "unknown field"])
def test_a_malformed_takara_by_apply_is_500_without_reason(talk: Talk, spec: dict[str, Any]) -> None:
    assert refusal(talk.apply(takara(**spec), plural="takaras")) == (500, "", [])


def test_a_takara_out_of_bounds_by_apply_is_422(talk: Talk) -> None:
    answer = talk.apply(takara(size=-1), plural="takaras")
    assert refusal(answer)[:2] == (422, "Invalid")
    assert (INVALID, "spec.size") in refusal(answer)[2]
