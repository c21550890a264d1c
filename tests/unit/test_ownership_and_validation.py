"""What stands in the way of a write: a Deployment that is not the Takara's own, a spec that cannot be used."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from takara_sync.conditions import Reason, Verdict
from takara_sync.ownership import controlled_by, not_ours
from takara_sync.text import rfc3339
from takara_sync.validation import problem_of
from tests.unit.build import NOW, TEMPLATE, Json, condition, deployment, owner, takara

OLDER = "Deployment ns/one belongs to a deleted Takara of this name (uid older). "
WAITING = Verdict(
    Reason.PREDECESSOR, f"{OLDER}Garbage collection removes it, and a new one is created then.", stalled=False
)
STAYS = Verdict(Reason.PREDECESSOR, f"{OLDER}Delete it.")


@pytest.mark.parametrize(
    ("owners", "ours"),
    [
        ([owner()], True),
        ([owner(apiVersion="maho.takara.org/v9")], True),
        ([{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "c"}, owner()], True),
        ([owner(uid="older")], False),
        ([owner(name="two")], False),
        ([owner(kind="Other")], False),
        ([owner(apiVersion="maho.takara.org")], False),
        ([owner(controller=False)], False),
        (None, False),
    ],
)
def test_the_controller_is_this_very_takara(owners: Any, *, ours: bool) -> None:
    assert controlled_by(deployment(ownerReferences=owners), takara()) is ours


@pytest.mark.parametrize(
    ("owners", "verdict"),
    [
        (
            None,
            Verdict(
                Reason.NO_CONTROLLER,
                "Deployment ns/one has no controller and is left alone. To make this Takara its controller: "
                "takara-sync adopt one -n ns. Its pods may then be replaced, and deleting the Takara deletes it. Else "
                "rename the Takara, or delete the Deployment.",
            ),
        ),
        ([owner(uid="older")], WAITING),
        ([owner(uid="older", apiVersion="maho.takara.org/v9")], STAYS),
        (
            [owner(apiVersion="apps/v1", kind="StatefulSet", name="db")],
            Verdict(
                Reason.OTHER_CONTROLLER,
                "Deployment ns/one is controlled by StatefulSet db and is left alone. Rename the Takara, or remove the "
                "Deployment where that owner declares it.",
            ),
        ),
    ],
    ids=["nobody's", "a predecessor's", "a predecessor's, of a version that is not served", "another's"],
)
def test_whose_it_is_and_what_to_do(owners: Any, verdict: Verdict) -> None:
    assert not_ours(takara(), deployment(ownerReferences=owners), NOW, adoptable=True) == verdict


def test_what_can_never_be_adopted_is_not_offered() -> None:
    """The selector of a Deployment never changes."""
    message = not_ours(takara(), deployment(ownerReferences=None), NOW, adoptable=False).message
    assert "It can never be adopted: its selector is not that of a Takara's Deployment" in message
    assert "takara-sync adopt" not in message


@pytest.mark.parametrize(
    ("recorded", "verdict"),
    [
        ({"reason": "DeploymentOfPredecessor", "since": rfc3339(NOW - timedelta(minutes=5))}, WAITING),
        ({"reason": "DeploymentOfPredecessor", "since": rfc3339(NOW - timedelta(minutes=5, seconds=1))}, STAYS),
        ({"reason": "DeploymentOfPredecessor", "since": "2026-01-01T12:09:00Z"}, WAITING),
        ({"reason": "Progressing", "since": "2025-01-01T00:00:00Z"}, WAITING),
    ],
    ids=["five minutes", "longer", "clocks differ", "another reason"],
)
def test_a_predecessors_deployment_is_waited_for_by_the_time_of_ready(recorded: Json, verdict: Verdict) -> None:
    one = takara(status={"conditions": [condition("Ready", "False", **recorded)]})
    assert not_ours(one, deployment(ownerReferences=[owner(uid="older")]), NOW, adoptable=True) == verdict


# ------------------------------------------------------------------ specs that cannot be used


def unusable(shown: str) -> Verdict:
    return Verdict(Reason.INVALID_SIZE, f"spec.size is {shown}. Set it to a whole number, 0 or more.")


NOT_ALLOWED = "spec.template is set, but templates are not allowed here. Remove it, or run takara-sync with "
TOO_LARGE = "spec.size is 1001, above the limit of 1000. Lower it, or raise --max-size."
# Each message says what to do.
SPECS: list[tuple[Any, Verdict | None]] = [
    ({}, unusable("missing")),
    ({"replicas": 3}, unusable("missing")),
    ({"size": None}, unusable("null")),
    ({"size": "3"}, unusable('"3"')),
    ({"size": -1}, unusable("-1")),
    ({"size": 3.5}, unusable("3.5")),
    ({"size": {"a": 1}}, unusable("{'a': 1}")),
    ({"size": "a\nb"}, unusable('"a b"')),
    ({"size": "x" * 200}, unusable('"' + "x" * 76 + "...")),
    ({"size": 1000}, None),
    ({"size": 1001}, Verdict(Reason.SIZE_TOO_LARGE, TOO_LARGE)),
    ("3", Verdict(Reason.INVALID_SPEC, "spec is not an object. Give it an integer size.")),
    (
        {"size": 3, "template": TEMPLATE},
        Verdict(Reason.TEMPLATES_NOT_ALLOWED, f"{NOT_ALLOWED}--allow-templates."),
    ),
]


@pytest.mark.parametrize(("spec", "verdict"), SPECS)
def test_a_spec_and_its_problem(spec: Any, verdict: Verdict | None) -> None:
    assert problem_of(takara(spec=spec), 1000, allow_templates=False) == verdict


def test_a_template_that_is_none_says_what_it_needs() -> None:
    words = "spec.template is not a pod template: it needs spec.containers."
    found = problem_of(takara(spec={"size": 3, "template": {}}), 1000, allow_templates=True)
    assert found == Verdict(Reason.INVALID_TEMPLATE, words)


def test_the_largest_size_of_all_is_that_of_an_int32() -> None:
    found = [problem_of(takara(size=size), size, allow_templates=False) for size in (2**31 - 1, 2**31)]
    assert found == [None, unusable(str(2**31))]
