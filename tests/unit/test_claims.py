"""The words for a spec that cannot be used, and for a Deployment that is not ours: each says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from takara_sync.claims import not_ours, problem_of
from takara_sync.reasons import Reason, Verdict
from tests.unit.build import TEMPLATE, Json, deployment, owner, takara


def problem(**spec: Any) -> Verdict | None:
    return problem_of(takara(spec=spec), 1000, allow_templates=False)


# ------------------------------------------------------------------ unusable specs


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
        Reason.INVALID_SPEC, "spec is no object. Give it an integer size."
    )


def test_a_template_says_what_is_wrong_with_it() -> None:
    assert problem(size=3, template=TEMPLATE) == Verdict(
        Reason.TEMPLATES_NOT_ALLOWED,
        "spec.template is set, but templates are not allowed here. Remove it, or run takara-sync with "
        "--allow-templates.",
    )
    assert problem_of(takara(spec={"size": 3, "template": {}}), 1000, allow_templates=True) == Verdict(
        Reason.INVALID_TEMPLATE, "spec.template is no pod template: it needs spec.containers."
    )


# ------------------------------------------------------------------ Deployments of others


@pytest.mark.parametrize(
    ("owners", "verdict"),
    [
        (
            None,
            Verdict(
                Reason.NO_CONTROLLER,
                "Deployment ns/one has no controller and is left alone. Delete or rename it, or give it this Takara as "
                "its controller owner reference.",
            ),
        ),
        (
            [owner(uid="older")],
            Verdict(
                Reason.PREDECESSOR,
                "Deployment ns/one belongs to a deleted Takara of this name (uid older) and is left alone. Garbage "
                "collection removes it; if it stays, delete it.",
            ),
        ),
        (
            [owner(apiVersion="apps/v1", kind="StatefulSet", name="db")],
            Verdict(
                Reason.OTHER_CONTROLLER,
                "Deployment ns/one is controlled by StatefulSet db and is left alone. Rename the Takara, or remove the "
                "Deployment where that owner declares it.",
            ),
        ),
    ],
    ids=["nobody's", "a predecessor's", "another's"],
)
def test_whose_it_is_and_what_to_do(owners: Any, verdict: Verdict) -> None:
    assert not_ours(takara(), deployment(ownerReferences=owners)) == verdict
