"""The time of our entry in managedFields: our own applies that change something move it, and nothing else does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.contract.talk import MERGE, deployment, entry, with_image

if TYPE_CHECKING:
    from tests.contract.talk import Json, Talk

_A_SECOND = 1.1  # times are in whole seconds


def since(value: Json) -> object:
    """When our entry was written."""
    found = entry(value)
    assert found is not None
    return found["time"]


def test_an_apply_that_changes_something_moves_it(talk: Talk) -> None:
    before = since(talk.applied(deployment()))
    time.sleep(_A_SECOND)
    assert since(talk.applied(deployment())) == before
    changed = since(talk.applied(with_image("nginx")))
    assert changed != before
    time.sleep(_A_SECOND)
    assert since(talk.applied(deployment())) not in (before, changed)


@pytest.mark.parametrize(
    "patch",
    [
        {"spec": {"replicas": 7}},
        {"metadata": {"annotations": {"note": "theirs"}}},
        {"metadata": {"labels": {"app": None}}},
        {"spec": {"template": {"metadata": {"annotations": {"restartedAt": "now"}}}}},
    ],
    ids=["replicas", "annotation", "label", "restart"],
)
def test_a_write_of_somebody_else_does_not(talk: Talk, patch: Json) -> None:
    before = since(talk.applied(deployment()))
    time.sleep(_A_SECOND)
    assert since(talk.patched("deployments", patch, content_type=MERGE)) == before


def test_the_scale_subresource_does_not(talk: Talk) -> None:
    before = since(talk.applied(deployment()))
    time.sleep(_A_SECOND)
    talk.patched("deployments", {"spec": {"replicas": 7}}, sub="scale")
    assert since(talk.get("deployments")) == before
    talk.moment()
    assert since(talk.get("deployments")) == before
