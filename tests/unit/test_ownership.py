"""Whether a Deployment is a Takara's own, and what the status says of one that is not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from takara_sync.conditions import Reason, Verdict
from takara_sync.ownership import controlled_by, not_ours
from takara_sync.text import rfc3339
from tests.unit.build import NOW, Json, condition, deployment, owner, takara

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
                "Deployment ns/one has no controller and is left alone. Delete or rename it, or give it this Takara as "
                "its controller owner reference.",
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
    assert not_ours(takara(), deployment(ownerReferences=owners), NOW) == verdict


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
    assert not_ours(one, deployment(ownerReferences=[owner(uid="older")]), NOW) == verdict
