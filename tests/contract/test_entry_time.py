"""The time of our entry in managedFields: our own applies that change something move it, and nothing else does."""

from __future__ import annotations

import time

from tests.contract.talk import Json, Talk, deployment, entry, with_image

_A_SECOND = 1.1  # times are in whole seconds
_OTHERS: tuple[Json, ...] = (
    {"spec": {"replicas": 7}},
    {"metadata": {"annotations": {"note": "theirs"}}},
    {"metadata": {"labels": {"app": None}}},
    {"spec": {"template": {"metadata": {"annotations": {"restartedAt": "now"}}}}},
)


def since(value: Json) -> object:
    """When our entry was written."""
    return (entry(value) or {})["time"]


def test_only_an_apply_of_ours_that_changes_something_moves_it(talk: Talk) -> None:
    before = since(talk.applied(deployment()))
    time.sleep(_A_SECOND)
    assert since(talk.applied(deployment())) == before
    for patch in _OTHERS:
        assert since(talk.patched("deployments", patch)) == before
    talk.patched("deployments", {"spec": {"replicas": 8}}, sub="scale")
    talk.moment()
    assert since(talk.get("deployments")) == before
    assert since(talk.applied(with_image("nginx"))) != before
