"""Requests of every shape: dry runs, methods, content types, broken and huge bodies."""

from __future__ import annotations

import pytest

from tests.contract.talk import (
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    Talk,
    deployment,
    generation,
    refusal,
    takara,
)

OTHER_UID = "00000000-0000-4000-8000-000000000000"


def test_a_dry_run_answers_and_stores_nothing(talk: Talk) -> None:
    answer = talk.server.call("POST", talk.path("takaras", query="dryRun=All"), takara())
    assert answer.status == 201
    assert talk.list("takaras")["items"] == []
    made = talk.create("takaras", takara())
    changed = talk.patched("takaras", {"spec": {"size": 9}}, query="dryRun=All")
    assert (changed["spec"]["size"], generation(changed)) == (9, 2)
    gone = talk.server.call("DELETE", talk.path("takaras", "one", query="dryRun=All"))
    assert gone.status == 200
    assert talk.get("takaras") == made


def test_a_method_that_the_path_has_not(talk: Talk) -> None:
    answer = talk.server.call("PUT", talk.path("deployments"), deployment())
    assert refusal(answer) == (405, "MethodNotAllowed", [])


def test_a_patch_type_that_a_takara_has_not_is_415(talk: Talk) -> None:
    talk.create("takaras", takara())
    answer = talk.patch("takaras", {"spec": {"size": 1}}, content_type=STRATEGIC)
    assert refusal(answer) == (415, "UnsupportedMediaType", [])
    assert talk.patch("takaras", {}, content_type="application/json").status == 415


@pytest.mark.parametrize("body", ["{", "", "[]", '"text"', "\x00"])
@pytest.mark.parametrize("plural", ["takaras", "deployments"])
def test_a_broken_body_is_400(talk: Talk, plural: str, body: str) -> None:
    answer = talk.server.call("POST", talk.path(plural), body)
    assert refusal(answer)[:2] == (400, "BadRequest")


def test_a_broken_patch_is_400(talk: Talk) -> None:
    talk.create("takaras", takara())
    for content_type in (MERGE, JSON_PATCH):
        assert talk.patch("takaras", "{", content_type=content_type).status == 400


def test_a_huge_body_is_413(talk: Talk) -> None:
    answer = talk.server.call("POST", talk.path("takaras"), takara(size=1, template={"x": "y" * 4_000_000}))
    assert refusal(answer)[:2] == (413, "RequestEntityTooLarge")


def test_events(talk: Talk) -> None:
    about = {"kind": "Takara", "namespace": talk.namespace, "name": "one", "uid": OTHER_UID}
    event = {
        "metadata": {"name": "one.1"},
        "involvedObject": about,
        "reason": "Scaled",
        "message": "from 1 to 2",
        "type": "Normal",
        "count": 1,
    }
    talk.create("events", event)
    assert talk.patched("events", {"count": 2}, name="one.1")["count"] == 2
    of = f"fieldSelector=involvedObject.name%3Done,involvedObject.uid%3D{OTHER_UID}"
    assert [item["message"] for item in talk.list("events", of)["items"]] == ["from 1 to 2"]
    assert talk.list("events", "fieldSelector=involvedObject.name%3Dtwo")["items"] == []
