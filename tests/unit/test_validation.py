"""The message for a spec that cannot be used: each says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.conditions import Reason, Verdict
from takara_sync.validation import problem_of
from tests.unit.build import TEMPLATE, Json, takara


def problem(**spec: Any) -> Verdict | None:
    return problem_of(takara(spec=spec), 1000, allow_templates=False)


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({}, "missing"),
        ({"replicas": 3}, "missing"),
        ({"size": None}, "null"),
        ({"size": "3"}, '"3"'),
        ({"size": -1}, "-1"),
        ({"size": 3.5}, "3.5"),
        ({"size": {"a": 1}}, "{'a': 1}"),
        ({"size": "a\nb"}, '"a b"'),
        ({"size": "x" * 200}, '"' + "x" * 79),
    ],
)
def test_a_size_that_cannot_be_used_is_shown_in_short(spec: Json, shown: str) -> None:
    words = f"spec.size is {shown}. Set it to a whole number, 0 or more."
    assert problem(**spec) == Verdict(Reason.INVALID_SIZE, words)


def test_the_largest_size_of_all_is_that_of_an_int32() -> None:
    assert problem_of(takara(size=2**31 - 1), 2**31 - 1, allow_templates=False) is None
    found = problem_of(takara(size=2**31), 2**31, allow_templates=False)
    assert found is not None
    assert found.reason == Reason.INVALID_SIZE


def test_a_size_above_the_limit_names_the_limit() -> None:
    assert problem(size=1000) is None
    assert problem(size=1001) == Verdict(
        Reason.SIZE_TOO_LARGE, "spec.size is 1001, above the limit of 1000. Lower it, or raise --max-size."
    )


def test_a_spec_that_is_no_object_says_so() -> None:
    assert problem_of(takara(spec="3"), 1000, allow_templates=False) == Verdict(
        Reason.INVALID_SPEC, "spec is not an object. Give it an integer size."
    )


def test_a_template_says_what_is_wrong_with_it() -> None:
    assert problem(size=3, template=TEMPLATE) == Verdict(
        Reason.TEMPLATES_NOT_ALLOWED,
        "spec.template is set, but templates are not allowed here. Remove it, or run takara-sync with "
        "--allow-templates.",
    )
    assert problem_of(takara(spec={"size": 3, "template": {}}), 1000, allow_templates=True) == Verdict(
        Reason.INVALID_TEMPLATE, "spec.template is not a pod template: it needs spec.containers."
    )
