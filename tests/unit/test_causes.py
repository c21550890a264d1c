"""What keeps pods away: one reason for each cause, from the Deployment or its pods."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from takara_sync.causes import from_deployment, from_pods, state_of
from takara_sync.objects import Deployment, PodDetail
from takara_sync.text import rfc3339
from tests.unit.build import NOW, Json, complete, decoded, deployment_json, key_of

# ------------------------------------------------------------------ the Deployment


def live(*conditions: Json, status: Json | None = None, spec: Json | None = None, **metadata: Any) -> Deployment:
    made = deployment_json(replicas=4, status=(status or complete(2)) | {"conditions": list(conditions)})
    return decoded(Deployment, made | {"spec": made["spec"] | (spec or {}), "metadata": made["metadata"] | metadata})


def failed(message: str) -> Json:
    return {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}


QUOTA = 'pods "one-5d4-x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2'
UNSET = 'pods "one-5d4-x" is forbidden: failed quota: cpus: must specify limits.cpu for: takara'
SECURITY = 'pods "one-5d4-x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true'
ACCOUNT = 'pods "one-5d4-x" is forbidden: error looking up service account ns/robot: not found'


@pytest.mark.parametrize(
    ("message", "reason", "words"),
    [
        (QUOTA, "QuotaExceeded", ("exceeded quota: small, requested: pods=1, used: pods=2", "lower spec.size")),
        (UNSET, "QuotaExceeded", ("failed quota: cpus: must specify limits.cpu", "LimitRange")),
        (SECURITY, "PodSecurityViolation", ('violates PodSecurity "restricted:latest"', "runAsNonRoot", "enforce")),
        (ACCOUNT, "FailedCreate", ("service account ns/robot: not found",)),
    ],
)
def test_what_rejects_pods(message: str, reason: str, words: tuple[str, ...]) -> None:
    verdict = from_deployment(live(failed(message)))
    assert verdict is not None
    assert (str(verdict.reason), verdict.stalled) == (reason, False)
    assert all(each in verdict.message for each in words)
    assert reason == "FailedCreate" or "one-5d4-x" not in verdict.message  # each try has another name
    assert from_deployment(live(failed(message) | {"status": "False"})) is None


BY_KUBECTL = {
    "manager": "kubectl-rollout",
    "operation": "Update",
    "apiVersion": "apps/v1",
    "time": "2026-01-01T11:00:00Z",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:spec": {"f:paused": {}}},
}
HELD = {"type": "Progressing", "status": "Unknown", "reason": "DeploymentPaused", "message": "Deployment is paused"}


def test_a_paused_rollout_passes_on_the_deployments_words_and_says_who_and_the_way_out() -> None:
    paused = live(HELD, spec={"paused": True}, managedFields=[BY_KUBECTL])
    verdict = from_deployment(paused.without_manifest())
    assert verdict is not None
    assert (verdict.reason, verdict.stalled) == ("RolloutPaused", False)
    assert verdict.message == (
        "Deployment is paused (spec.paused is set by kubectl-rollout, 2026-01-01T11:00:00Z). "
        "Kubernetes does not roll it out until: kubectl -n ns rollout resume deployment/one"
    )
    rejected = from_deployment(live(HELD, failed(QUOTA), spec={"paused": True}))
    assert rejected is not None
    assert rejected.reason == "QuotaExceeded"
    assert from_deployment(live(HELD, managedFields=[BY_KUBECTL])) is None  # it is resumed


def test_the_state_is_that_of_generation_and_status_without_times() -> None:
    base = live(HELD)
    same = live(HELD | {"lastTransitionTime": "2026-01-01T11:00:00Z"}, resourceVersion="99")
    assert state_of(same) == state_of(base) == state_of(base.without_manifest())
    others = [
        live(HELD | {"message": "other"}),
        live(HELD, status=complete(2) | {"readyReplicas": 1}),
        live(HELD, spec={"replicas": 5}),
    ]
    replaced = [live(HELD, generation=9), live(HELD, uid="another")]
    parts = [state_of(each).partition("-") for each in (base, *others, *replaced)]
    assert len({part[0] for part in parts}) == 1 + len(replaced)
    assert len(set(parts)) == len(parts)


# ------------------------------------------------------------------ pods

OLD, NEW = (rfc3339(NOW - timedelta(minutes=minutes)) for minutes in (30, 1))
LOOK = "See: kubectl -n ns describe pod one-5d4-a"
LOGS = "See: kubectl -n ns logs one-5d4-a -c takara --previous"


def pod(*containers: Json, name: str = "one-5d4-a", conditions: Any = (), made: str = NEW, **more: Any) -> PodDetail:
    replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "one-5d4", "uid": "u", "controller": True}
    metadata = {"name": name, "namespace": "ns", "labels": {"takara_cr": "one", "pod-template-hash": "5d4"}}
    metadata |= {"creationTimestamp": made, "ownerReferences": [replica_set]} | more
    status = {"phase": "Pending", "conditions": list(conditions), "containerStatuses": list(containers)}
    return decoded(PodDetail, {"metadata": metadata, "status": status})


def container(restarts: int = 0, *, ready: bool = False, last: Json | None = None, **state: Json) -> Json:
    made = {"name": "takara", "image": "busybox", "ready": ready, "restartCount": restarts, "state": state}
    return made | ({"lastState": {"terminated": last}} if last else {})


def waiting(reason: str, message: str = "", restarts: int = 0, last: Json | None = None) -> Json:
    return container(restarts, last=last, waiting={"reason": reason, "message": message})


WHERE = "container takara of pod one-5d4-a"
ERROR = {"exitCode": 1, "reason": "Error"}
RUNS: Json = {"startedAt": NEW}
UNSCHEDULABLE = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/3 nodes are available: 3 Insufficient cpu.",
}
UNREADY = {"type": "Ready", "status": "False", "reason": "ContainersNotReady"}
CRASHES = f"The container takara of pod one-5d4-a ends again and again (exit code 1, Error). {LOGS}"
KNOWN = {
    "back-off": (
        pod(waiting("ImagePullBackOff", 'Back-off pulling image "busybox"')),
        "ImagePullFailed",
        f'Image busybox cannot be pulled (ImagePullBackOff): Back-off pulling image "busybox". {LOOK}',
    ),
    "no such image": (
        pod(waiting("ErrImagePull", "not found.")),
        "ImagePullFailed",
        f"Image busybox cannot be pulled (ErrImagePull): not found. {LOOK}",
    ),
    "no secret": (
        pod(waiting("CreateContainerConfigError", "secret s not found")),
        "ContainerNotCreated",
        f"The {WHERE} cannot be created (CreateContainerConfigError): secret s not found. {LOOK}",
    ),
    "crash loop: waiting": (pod(waiting("CrashLoopBackOff", "back-off 40s", 4, ERROR)), "CrashLoop", CRASHES),
    "crash loop: terminated": (pod(container(terminated=ERROR)), "CrashLoop", CRASHES),
    "crash loop: running, not ready": (pod(container(3, last=ERROR, running=RUNS)), "CrashLoop", CRASHES),
    "cannot run": (
        pod(waiting("RunContainerError", "exec: not found")),
        "CrashLoop",
        f"The container takara of pod one-5d4-a ends again and again. {LOGS}",
    ),
    "no room": (
        pod(conditions=[UNSCHEDULABLE]),
        "Unschedulable",
        "Pod one-5d4-a cannot be scheduled (Unschedulable): 0/3 nodes are available: 3 Insufficient cpu. " + LOOK,
    ),
    "slow for a long time": (
        pod(waiting("ContainerCreating"), made=OLD),
        "PodsNotReady",
        f"Pod one-5d4-a has not been ready for a long time (ContainerCreating). {LOOK}",
    ),
    "a probe fails for a long time": (
        pod(container(running=RUNS), conditions=[UNREADY | {"lastTransitionTime": OLD}]),
        "PodsNotReady",
        f"Pod one-5d4-a has not been ready for a long time. {LOOK}",
    ),
}


@pytest.mark.parametrize("case", KNOWN)
def test_what_keeps_a_pod_from_being_ready(case: str) -> None:
    one, reason, message = KNOWN[case]
    verdict = from_pods([one], key_of({"metadata": {"namespace": "ns", "name": "one"}}), NOW)
    assert verdict is not None
    assert (verdict.reason, verdict.message, verdict.stalled) == (reason, message, False)


FINE = {
    "starting": pod(waiting("ContainerCreating")),
    "a probe fails": pod(container(running=RUNS), conditions=[UNREADY | {"lastTransitionTime": NEW}], made=OLD),
    "it was restarted, and is ready": pod(
        container(3, ready=True, last=ERROR, running=RUNS), conditions=[UNREADY | {"status": "True"}], made=OLD
    ),
    "being deleted": pod(waiting("ImagePullBackOff"), deletionTimestamp=NEW),
    "a stray": pod(waiting("ImagePullBackOff"), labels={"takara_cr": "one", "pod-template-hash": "another"}),
    "no times": pod(waiting("ContainerCreating"), made="soon"),
}


@pytest.mark.parametrize("case", FINE)
def test_what_only_needs_time_is_no_cause(case: str) -> None:
    assert from_pods([FINE[case]], key_of({"metadata": {"namespace": "ns", "name": "one"}}), NOW) is None


def test_an_init_container_that_is_done_is_no_crash_and_one_that_failed_is() -> None:
    key = key_of({"metadata": {"namespace": "ns", "name": "one"}})
    found = []
    for code in (0, 1):
        status = {"initContainerStatuses": [container(terminated={"exitCode": code})]}
        made = decoded(PodDetail, {"metadata": METADATA, "status": status})
        found.append(from_pods([made], key, NOW))
    assert found[0] is None
    assert found[1] is not None
    assert found[1].reason == "CrashLoop"


METADATA = {
    "name": "one-5d4-a",
    "namespace": "ns",
    "creationTimestamp": NEW,
    "labels": {"takara_cr": "one", "pod-template-hash": "5d4"},
    "ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "one-5d4", "uid": "u", "controller": True}
    ],
}


def test_of_several_causes_the_order_of_the_pods_does_not_matter() -> None:
    key = key_of({"metadata": {"namespace": "ns", "name": "one"}})
    pods = [
        pod(conditions=[UNSCHEDULABLE], name="one-5d4-a"),
        pod(waiting("CrashLoopBackOff"), name="one-5d4-c"),
        pod(waiting("CrashLoopBackOff"), name="one-5d4-b"),
    ]
    found = [from_pods(order, key, NOW) for order in (pods, pods[::-1])]
    assert found[0] == found[1]
    assert found[0] is not None
    assert "pod one-5d4-b" in found[0].message
