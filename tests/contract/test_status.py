"""The Takara's status as the pass writes it: JSON patches that test the uid and the generation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.talk import JSON_PATCH, OTHER_UID, Talk, altered, generation, refusal, takara, version

NEW = {"observedGeneration": -1}
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


def write_status(talk: Talk, operations: list[dict[str, Any]], name: str = "one") -> Any:
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
            "format": 1,
            "replicasTakenBy": {"manager": "hpa", "at": "2026-01-01T00:00:00Z", "times": 2},
        },
    }
    answer = write_status(talk, [*checks(made), *add(**status)])
    assert (answer.status, answer.body["status"]) == (200, status)
    assert (generation(answer.body), answer.body["spec"]) == (1, {"size": 3})
    assert talk.get("takaras") == answer.body


def test_the_same_status_again_moves_nothing(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    first = write_status(talk, [*checks(made), *add(replicas=1)])
    second = write_status(talk, [*checks(made), *add(replicas=1)])
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
    answer = write_status(talk, [test, *add(replicas=9)])
    assert refusal(answer) == (422, "Invalid", [])
    assert answer.body["details"] == {}
    assert talk.get("takaras") == made


def test_a_schema_refusal_has_causes(talk: Talk) -> None:
    made = talk.create("takaras", takara())
    answer = write_status(talk, [*checks(made), *add(readyReplicas="three")])
    assert refusal(answer) == (422, "Invalid", [("FieldValueTypeInvalid", "status.readyReplicas")])


@pytest.mark.parametrize(
    ("conditions", "reason", "field"),
    [
        ([CONDITION | {"status": "Maybe"}], "FieldValueNotSupported", "[0].status"),
        ([CONDITION | {"reason": ""}], "FieldValueInvalid", "[0].reason"),
        ([CONDITION | {"message": "x" * 32769}], "FieldValueTooLong", "[0].message"),
        ([CONDITION | {"lastTransitionTime": "soon"}], "FieldValueTypeInvalid", "[0].lastTransitionTime"),
        ([altered(CONDITION, "reason")], "FieldValueRequired", "[0].reason"),
        ([CONDITION, CONDITION], "FieldValueDuplicate", "[1]"),
    ],
    ids=["enum", "short", "long", "time", "missing", "two of one type"],
)
def test_conditions_that_are_refused(talk: Talk, conditions: list[Any], reason: str, field: str) -> None:
    talk.create("takaras", takara())
    answer = write_status(talk, add(conditions=conditions))
    assert refusal(answer) == (422, "Invalid", [(reason, f"status.conditions{field}")])


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        (add(deployment={"uid": "a", "colour": "red"}), NEW | {"deployment": {"uid": "a"}}),
        (add(nodes=None), NEW | {"nodes": None}),
        ([{"op": "test", "path": "/status/nodes", "value": None}, *add(nodes=[])], NEW | {"nodes": []}),
        ([{"op": "add", "path": "/status", "value": {}}, *add(replicas=1)], {"replicas": 1}),
    ],
    ids=["an unknown field is pruned", "a null that may be", "a test for null where absent", "replaced as a whole"],
)
def test_what_a_patch_makes_of_the_status(talk: Talk, operations: list[Any], expected: dict[str, Any]) -> None:
    talk.create("takaras", takara())
    answer = write_status(talk, operations)
    assert (answer.status, answer.body["status"]) == (200, expected)


def test_a_status_that_was_taken_away_comes_back_with_its_default(talk: Talk) -> None:
    talk.create("takaras", takara())
    answer = write_status(talk, [{"op": "remove", "path": "/status"}])
    assert answer.status == 200
    assert talk.get("takaras")["status"] == NEW


def test_the_status_of_an_absent_takara_is_404(talk: Talk) -> None:
    assert refusal(write_status(talk, add(replicas=1), name="nobody")) == (404, "NotFound", [])


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
    assert refusal(write_status(talk, [operation]))[:2] == (422, "Invalid")
