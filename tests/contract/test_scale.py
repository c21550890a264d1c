"""The scale subresource of Deployments and Takaras: what it shows, writes and owns."""

from __future__ import annotations

import pytest

from tests.contract.talk import (
    BODIES,
    OUR_FIELDS,
    Talk,
    altered,
    deployment,
    entry,
    generation,
    ours,
    owned,
)


@pytest.mark.parametrize("size", [3, 0])
def test_the_scale_subresource_makes_an_entry_without_time(talk: Talk, size: int) -> None:
    """Of a Takara see test_kubectl."""
    talk.applied(deployment(replicas=size))
    answer = talk.patch("deployments", {"spec": {"replicas": 5}}, sub="scale")
    assert (answer.body["kind"], answer.body["spec"]) == ("Scale", {"replicas": 5})
    after = talk.get("deployments")
    taker = entry(after, "somebody", "Update", "scale") or {}
    assert (taker["apiVersion"], "time" in taker) == ("apps/v1", False)
    assert owned(after, "somebody", "Update", "scale") == {"spec/replicas"}
    assert owned(after) == OUR_FIELDS - {"spec/replicas"}
    assert generation(after) == 2


def test_one_entry_only_however_often_replicas_went_back_and_forth(talk: Talk) -> None:
    for _ in range(3):
        made = talk.applied(deployment())
        talk.patched("deployments", {"spec": {"replicas": 5}}, sub="scale")
    after = talk.applied(deployment())
    assert ours(after) == ours(made)
    assert entry(after, "somebody", "Update", "scale") is None


def test_scaling_to_the_same_size_takes_nothing(talk: Talk) -> None:
    made = talk.applied(deployment())
    talk.patched("deployments", {"spec": {"replicas": 3}}, sub="scale")
    after = talk.get("deployments")
    assert (entry(after), generation(after)) == (entry(made), 1)


@pytest.mark.parametrize("plural", ["takaras", "deployments"])
def test_scaling_to_nothing_leaves_the_replicas_to_nobody(talk: Talk, plural: str) -> None:
    field = "size" if plural == "takaras" else "replicas"
    talk.applied(BODIES[plural], plural=plural)
    for size in (0, 2):  # nor does scaling up again make an entry
        talk.patched(plural, {"spec": {"replicas": size}}, sub="scale")
        after = talk.get(plural)
        assert after["spec"][field] == size
        assert f"spec/{field}" not in owned(after)
        assert entry(after, "somebody", "Update", "scale") is None


def test_a_scale_by_put(talk: Talk) -> None:
    talk.applied(deployment())
    path = talk.path("deployments", "one", "scale")
    found = talk.server.call("GET", path).body
    assert (found["kind"], found["spec"], found["status"]["selector"]) == (
        "Scale",
        {"replicas": 3},
        "app=takara,takara_cr=one",
    )
    scaled = altered(altered(found, "metadata.resourceVersion"), "spec.replicas", 6)
    answer = talk.server.call("PUT", f"{path}?fieldManager=hpa", scaled)
    assert (answer.status, answer.body["spec"]) == (200, {"replicas": 6})
    assert owned(talk.get("deployments"), "hpa", "Update", "scale") == {"spec/replicas"}
