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


def test_a_dry_run_answers_and_stores_nothing(talk: Talk) -> None:
    talk.create("takaras", takara(), query="dryRun=All")
    assert talk.list("takaras")["items"] == []
    made = talk.create("takaras", takara())
    changed = talk.patched("takaras", {"spec": {"size": 9}}, query="dryRun=All")
    assert (changed["spec"]["size"], generation(changed)) == (9, 2)
    assert talk.server.call("DELETE", talk.path("takaras", "one", query="dryRun=All")).status == 200
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
    answer = talk.post(plural, body)
    assert refusal(answer)[:2] == (400, "BadRequest")


def test_a_broken_patch_is_400(talk: Talk) -> None:
    talk.create("takaras", takara())
    for content_type in (MERGE, JSON_PATCH):
        assert talk.patch("takaras", "{", content_type=content_type).status == 400
