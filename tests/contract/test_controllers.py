"""Deployments at work: ReplicaSets, pods, rollouts, and the status that the product compares."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.talk import Talk, deployment, wait, with_image


def ready(talk: Talk, body: dict[str, Any]) -> dict[str, Any]:
    """The Deployment after an apply, with its rollout complete."""
    talk.applied(body)
    talk.server.make_ready(talk.namespace, "one")
    return talk.settled()


def counts(value: dict[str, Any]) -> dict[str, int]:
    return {key: count for key, count in value["status"].items() if isinstance(count, int)}


def condition(value: dict[str, Any], kind: str) -> tuple[str, str]:
    (found,) = [one for one in value["status"]["conditions"] if one["type"] == kind]
    return found["status"], found["reason"]


def sets(talk: Talk) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = talk.list("replicasets")["items"]
    return found


def pods(talk: Talk) -> list[str]:
    return [item["metadata"]["name"] for item in talk.list("pods")["items"]]


def test_a_deployment_gets_its_replica_set_and_pods(talk: Talk) -> None:
    made = talk.applied(deployment())
    talk.server.settle(talk.namespace)
    (one,) = sets(talk)
    hashed = one["metadata"]["labels"]["pod-template-hash"]
    assert one["metadata"]["name"] == f"one-{hashed}"
    assert one["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"]
    assert len(pods(talk)) == 3
    for pod in talk.list("pods")["items"]:
        reference = pod["metadata"]["ownerReferences"][0]
        assert (reference["uid"], reference["controller"]) == (one["metadata"]["uid"], True)
        assert pod["metadata"]["labels"] == {"app": "takara", "takara_cr": "one", "pod-template-hash": hashed}
        assert pod["metadata"]["name"].startswith(f"one-{hashed}-")
        assert pod["status"]["phase"] == "Pending"


@pytest.mark.parametrize(
    ("runs", "counted", "conditions"),
    [
        (
            False,
            {"unavailableReplicas": 3},
            [("False", "MinimumReplicasUnavailable"), ("True", "ReplicaSetUpdated")],
        ),
        (
            True,
            {"readyReplicas": 3, "availableReplicas": 3},
            [("True", "MinimumReplicasAvailable"), ("True", "NewReplicaSetAvailable")],
        ),
    ],
)
def test_the_status(talk: Talk, runs: bool, counted: dict[str, int], conditions: list[tuple[str, str]]) -> None:
    talk.applied(deployment())
    if runs:
        talk.server.make_ready(talk.namespace, "one")
    found = talk.settled()
    started = {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "terminatingReplicas": 0}
    assert counts(found) == started | counted
    assert [condition(found, kind) for kind in ("Available", "Progressing")] == conditions


def test_scaling_to_nothing(talk: Talk) -> None:
    ready(talk, deployment())
    talk.applied(deployment(replicas=0))
    found = talk.settled()
    assert counts(found) == {"observedGeneration": 2, "terminatingReplicas": 0}
    assert condition(found, "Available") == ("True", "MinimumReplicasAvailable")
    assert pods(talk) == []


def test_a_rollout_makes_another_replica_set_and_keeps_the_old_one_empty(talk: Talk) -> None:
    ready(talk, deployment())
    found = ready(talk, with_image("other"))
    assert sorted(one["spec"]["replicas"] for one in sets(talk)) == [0, 3]
    assert counts(found)["updatedReplicas"] == 3
    assert {pod["spec"]["containers"][0]["image"] for pod in talk.list("pods")["items"]} == {"other"}
    ready(talk, deployment())
    assert len(sets(talk)) == 2  # the old one is used again


def test_a_deleted_pod_comes_back_under_another_name(talk: Talk) -> None:
    ready(talk, deployment(replicas=1))
    (old,) = pods(talk)
    assert talk.server.call("DELETE", talk.path("pods", old, query="gracePeriodSeconds=0")).status == 200
    wait(talk, lambda: len(pods(talk)) == 1 and pods(talk) != [old])


def test_a_finished_pod_is_replaced_and_stays_listed(talk: Talk) -> None:
    ready(talk, deployment(replicas=1))
    (old,) = pods(talk)
    talk.patched("pods", {"status": {"phase": "Failed"}}, name=old, sub="status")
    wait(talk, lambda: len(pods(talk)) == 2 and old in pods(talk))
