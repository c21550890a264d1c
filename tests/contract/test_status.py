"""The Takara's status as the pass writes it: JSON patches that test the uid and the generation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.talk import JSON_PATCH, Talk, generation, refusal, takara, version

OTHER_UID = "00000000-0000-4000-8000-000000000000"
CONDITION = {
    "type": "Ready",
    "status": "True",
    "reason": "Converged",
    "message": "all is well",
    "observedGeneration": 1,
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


def checks(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"op": "test", "path": "/metadata/uid", "value": made["metadata"]["uid"]},
        {"op": "test", "path": "/metadata/generation", "value": generation(made)},
    ]


def add(**status: Any) -> list[dict[str, Any]]:
    return [{"op": "add", "path": f"/status/{key}", "value": value} for key, value in status.items()]


def tell(talk: Talk, operations: list[dict[str, Any]], name: str = "one") -> Any:
    return talk.patch("takaras", operations, name=name, sub="status", content_type=JSON_PATCH)


def test_a_whole_status_is_written(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    status = {
        "observedGeneration": 1,
        "nodes": [],
        "replicas": 3,
        "readyReplicas": 0,
        "selector": "app=takara",
        "conditions": [CONDITION],
        "deployment": {
            "uid": OTHER_UID,
            "configHash": "a",
            "fieldsHash": "b",
            "format": 1,
            "replicasTakenBy": {"manager": "hpa", "at": "2026-01-01T00:00:00Z", "times": 2},
        },
    }
    answer = tell(talk, [*checks(made), *add(**status)])
    assert (answer.status, answer.body["status"]) == (200, status)
    assert (generation(answer.body), answer.body["spec"]) == (1, {"size": 3})
    assert talk.get("takaras") == answer.body


def test_the_same_status_again_moves_nothing(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    first = tell(talk, [*checks(made), *add(replicas=1)])
    second = tell(talk, [*checks(made), *add(replicas=1)])
    assert version(second.body) == version(first.body)


@pytest.mark.parametrize(
    "test",
    [
        {"op": "test", "path": "/metadata/uid", "value": OTHER_UID},
        {"op": "test", "path": "/metadata/generation", "value": 9},
        {"op": "test", "path": "/status/nothing", "value": 1},
        {"op": "test", "path": "/spec/size", "value": "3"},
    ],
    ids=["uid", "generation", "absent", "type"],
)
def test_a_failed_test_is_422_without_causes(talk: Talk, test: dict[str, Any]) -> None:
    made = talk.create("takaras", takara())
    answer = tell(talk, [test, *add(replicas=9)])
    assert refusal(answer) == (422, "Invalid", [])
    assert answer.body["details"] == {}
    assert talk.get("takaras") == made


def test_a_schema_refusal_has_causes(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    answer = tell(talk, [*checks(made), *add(readyReplicas="three")])
    assert refusal(answer) == (422, "Invalid", [("FieldValueTypeInvalid", "status.readyReplicas")])


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"status": "Maybe"}, ("FieldValueNotSupported", "status.conditions[0].status")),
        ({"reason": ""}, ("FieldValueInvalid", "status.conditions[0].reason")),
        ({"message": "x" * 32769}, ("FieldValueTooLong", "status.conditions[0].message")),
        ({"lastTransitionTime": "soon"}, ("FieldValueTypeInvalid", "status.conditions[0].lastTransitionTime")),
    ],
    ids=["enum", "short", "long", "time"],
)
def test_conditions_that_are_refused(talk: Talk, change: dict[str, Any], cause: tuple[str, str]) -> None:
    talk.create("takaras", takara())
    answer = tell(talk, add(conditions=[{**CONDITION, **change}]))
    assert refusal(answer) == (422, "Invalid", [cause])


def test_a_condition_without_its_reason_is_refused(talk: Talk) -> None:
    talk.create("takaras", takara())
    short = {key: item for key, item in CONDITION.items() if key != "reason"}
    answer = tell(talk, add(conditions=[short]))
    assert refusal(answer) == (422, "Invalid", [("FieldValueRequired", "status.conditions[0].reason")])


def test_two_conditions_of_one_type_are_refused(talk: Talk) -> None:
    talk.create("takaras", takara())
    answer = tell(talk, add(conditions=[CONDITION, CONDITION]))
    assert refusal(answer) == (422, "Invalid", [("FieldValueDuplicate", "status.conditions[1]")])


def test_unknown_fields_are_pruned(talk: Talk) -> None:
    talk.create("takaras", takara())
    answer = tell(talk, add(deployment={"uid": "a", "colour": "red"}))
    assert (answer.status, answer.body["status"]["deployment"]) == (200, {"uid": "a"})


def test_nodes_may_be_null(talk: Talk) -> None:
    talk.create("takaras", takara())
    answer = tell(talk, add(nodes=None))
    assert (answer.status, answer.body["status"]["nodes"]) == (200, None)


def test_a_status_that_was_taken_away_comes_back_with_its_default(talk: Talk) -> None:
    talk.create("takaras", takara())
    answer = tell(talk, [{"op": "remove", "path": "/status"}])
    assert answer.status == 200
    assert talk.get("takaras")["status"] == {"observedGeneration": -1}


def test_an_absent_key_matches_a_test_for_null(talk: Talk) -> None:
    talk.create("takaras", takara())
    null = {"op": "test", "path": "/status/nodes", "value": None}
    assert tell(talk, [null, *add(nodes=[])]).body["status"]["nodes"] == []


def test_a_status_is_replaced_as_a_whole(talk: Talk) -> None:
    talk.create("takaras", takara())
    whole = {"op": "add", "path": "/status", "value": {}}
    answer = tell(talk, [whole, *add(replicas=1)])
    assert (answer.status, answer.body["status"]["replicas"]) == (200, 1)


def test_the_status_of_an_absent_takara_is_404(talk: Talk) -> None:
    assert refusal(tell(talk, add(replicas=1), name="nobody")) == (404, "NotFound", [])


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/status/nothing"},
        {"op": "add", "path": "/nothing/here", "value": 1},
        {"op": "add", "path": "/status/conditions/5", "value": 1},
    ],
    ids=["remove", "parent", "index"],
)
def test_operations_that_do_not_fit_are_422(talk: Talk, operation: dict[str, Any]) -> None:
    talk.create("takaras", takara())
    assert refusal(tell(talk, [operation]))[:2] == (422, "Invalid")


def test_json_pointers_are_unescaped(talk: Talk) -> None:
    talk.create("takaras", takara(size=1, template={}))
    escaped = {"op": "add", "path": "/spec/template/example.org~1a~0b", "value": "c"}
    after = talk.patched("takaras", [escaped], content_type=JSON_PATCH)
    assert after["spec"]["template"] == {"example.org/a~b": "c"}


def test_moves_copies_and_list_positions(talk: Talk) -> None:
    template = {"list": [1, 2], "from": {"a": 1}}
    talk.create("takaras", takara(size=1, template=template))
    operations = [
        {"op": "add", "path": "/spec/template/list/1", "value": 9},
        {"op": "add", "path": "/spec/template/list/-", "value": 3},
        {"op": "remove", "path": "/spec/template/list/0"},
        {"op": "copy", "from": "/spec/template/from", "path": "/spec/template/copied"},
        {"op": "move", "from": "/spec/template/from", "path": "/spec/template/moved"},
    ]
    after = talk.patched("takaras", operations, content_type=JSON_PATCH)
    assert after["spec"]["template"] == {"list": [9, 2, 3], "copied": {"a": 1}, "moved": {"a": 1}}
