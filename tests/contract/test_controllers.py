"""Deployments at work: ReplicaSets, pods, rollouts, and the status that the product compares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.contract.talk import STRATEGIC, Talk, deployment, with_image

if TYPE_CHECKING:
    from collections.abc import Iterable


def ready(talk: Talk) -> dict[str, Any]:
    talk.server.make_ready(talk.namespace, "one")
    return talk.settled()


def counts(value: dict[str, Any]) -> dict[str, int]:
    return {key: count for key, count in value["status"].items() if isinstance(count, int)}


def condition(value: dict[str, Any], kind: str) -> tuple[str, str]:
    (found,) = [one for one in value["status"]["conditions"] if one["type"] == kind]
    return found["status"], found["reason"]


def names(items: Iterable[dict[str, Any]]) -> list[str]:
    return [item["metadata"]["name"] for item in items]


def test_a_deployment_gets_its_replica_set_and_pods(talk: Talk) -> None:
    made = talk.applied(deployment())
    talk.server.settle(talk.namespace)
    (one,) = talk.list("replicasets")["items"]
    hashed = one["metadata"]["labels"]["pod-template-hash"]
    assert one["metadata"]["name"] == f"one-{hashed}"
    assert one["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"]
    assert one["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"
    pods = talk.list("pods")["items"]
    assert len(pods) == 3
    for pod in pods:
        reference = pod["metadata"]["ownerReferences"][0]
        assert (reference["uid"], reference["controller"]) == (one["metadata"]["uid"], True)
        assert pod["metadata"]["labels"] == {"app": "takara", "takara_cr": "one", "pod-template-hash": hashed}
        assert pod["metadata"]["name"].startswith(f"one-{hashed}-")
        assert pod["status"]["phase"] == "Pending"


def test_the_status_before_any_pod_runs(talk: Talk) -> None:
    talk.applied(deployment())
    found = talk.settled()
    assert counts(found) == {
        "observedGeneration": 1,
        "replicas": 3,
        "updatedReplicas": 3,
        "unavailableReplicas": 3,
        "terminatingReplicas": 0,
    }
    assert condition(found, "Available") == ("False", "MinimumReplicasUnavailable")
    assert condition(found, "Progressing") == ("True", "ReplicaSetUpdated")


def test_the_status_when_all_is_well(talk: Talk) -> None:
    talk.applied(deployment())
    found = ready(talk)
    assert counts(found) == {
        "observedGeneration": 1,
        "replicas": 3,
        "updatedReplicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "terminatingReplicas": 0,
    }
    assert condition(found, "Available") == ("True", "MinimumReplicasAvailable")
    assert condition(found, "Progressing") == ("True", "NewReplicaSetAvailable")


def test_scaling_keeps_the_replica_set(talk: Talk) -> None:
    talk.applied(deployment())
    ready(talk)
    before = set(names(talk.list("pods")["items"]))
    talk.applied(deployment(replicas=5))
    found = ready(talk)
    assert counts(found)["replicas"] == 5
    assert before < set(names(talk.list("pods")["items"]))
    assert len(talk.list("replicasets")["items"]) == 1


def test_scaling_to_nothing(talk: Talk) -> None:
    talk.applied(deployment())
    ready(talk)
    talk.applied(deployment(replicas=0))
    found = talk.settled()
    assert counts(found) == {"observedGeneration": 2, "terminatingReplicas": 0}
    assert condition(found, "Available") == ("True", "MinimumReplicasAvailable")
    assert talk.list("pods")["items"] == []


def test_a_rollout_makes_another_replica_set_and_keeps_the_old_one_empty(talk: Talk) -> None:
    talk.applied(deployment())
    ready(talk)
    talk.applied(with_image("other"))
    found = ready(talk)
    sizes = sorted(one["spec"]["replicas"] for one in talk.list("replicasets")["items"])
    assert (sizes, counts(found)["updatedReplicas"]) == ([0, 3], 3)
    revisions = {
        one["metadata"]["annotations"]["deployment.kubernetes.io/revision"] for one in talk.list("replicasets")["items"]
    }
    assert revisions == {"1", "2"}
    assert found["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
    images = {pod["spec"]["containers"][0]["image"] for pod in talk.list("pods")["items"]}
    assert images == {"other"}


def test_a_rollout_without_ready_pods_stops_at_its_surge(talk: Talk) -> None:
    talk.applied(deployment())
    ready(talk)
    talk.applied(with_image("other"))
    for _ in range(50):
        if len(talk.list("pods")["items"]) == 4:
            break
        talk.moment()
    found = talk.get("deployments")
    assert len(talk.list("pods")["items"]) == 4
    assert condition(found, "Available")[0] == "True"


def test_a_restart_is_a_rollout(talk: Talk) -> None:
    talk.applied(deployment())
    ready(talk)
    patch = {"spec": {"template": {"metadata": {"annotations": {"restartedAt": "now"}}}}}
    talk.patched("deployments", patch, content_type=STRATEGIC)
    ready(talk)
    assert len(talk.list("replicasets")["items"]) == 2


def test_going_back_reuses_the_old_replica_set(talk: Talk) -> None:
    for image in ("busybox", "other", "busybox"):
        talk.applied(with_image(image))
        ready(talk)
    assert len(talk.list("replicasets")["items"]) == 2


def test_a_deleted_pod_comes_back_under_another_name(talk: Talk) -> None:
    talk.applied(deployment(replicas=1))
    ready(talk)
    (old,) = names(talk.list("pods")["items"])
    path = talk.path("pods", old, query="gracePeriodSeconds=0")
    assert talk.server.call("DELETE", path).status == 200
    talk.server.settle(talk.namespace)
    (new,) = names(talk.list("pods")["items"])
    assert new != old


def test_a_finished_pod_is_replaced_and_stays_listed(talk: Talk) -> None:
    talk.applied(deployment(replicas=1))
    ready(talk)
    (old,) = names(talk.list("pods")["items"])
    talk.patched("pods", {"status": {"phase": "Failed"}}, name=old, sub="status")
    for _ in range(100):
        talk.moment()
        if len(talk.list("pods")["items"]) == 2:
            break
    assert old in names(talk.list("pods")["items"])
    assert len(talk.list("pods")["items"]) == 2


def test_the_longest_names(talk: Talk) -> None:
    name = "x" * 253
    body = deployment(name)
    labels = {"app": "takara"}
    body["metadata"]["labels"] = body["spec"]["selector"]["matchLabels"] = labels
    body["spec"]["template"]["metadata"]["labels"] = labels
    talk.applied(body)
    talk.server.settle(talk.namespace)
    (one,) = talk.list("replicasets")["items"]
    hashed = one["metadata"]["labels"]["pod-template-hash"]
    assert one["metadata"]["name"] == f"{name[: 252 - len(hashed)]}-{hashed}"
    assert {len(pod) for pod in names(talk.list("pods")["items"])} == {63}
