"""What keeps the pods of a Deployment away: from its own status, and from the status of its pods. Pure.

The status of the Deployment names what rejects pods, and a paused rollout. Everything else is only in the pods. Reading
them costs a request, so a cause from pods stays in the status of the Takara until the Deployment's generation or status
changes (`state_of`). That is also why it does not change back and forth: a container in a crash loop is in turn
waiting, running and terminated, and the Deployment's status says the same about all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from msgspec import Struct

from takara_sync.backoff import elapsed
from takara_sync.conditions import Reason, Verdict
from takara_sync.managed_fields import holders
from takara_sync.objects import Condition, ContainerStatus, Deployment, Key, PodDetail, Takara, Terminated, Waiting
from takara_sync.text import digest

GRACE = timedelta(seconds=30)
"""How long a Takara may not be Ready before its pods are read: most pods start within this time."""
PATIENCE = timedelta(minutes=10)
"""After this time a pod that does not say why it is not ready is a cause too: a Deployment's own default deadline."""

FROM_PODS = (  # if pods differ, the first of these is the cause
    Reason.IMAGE_PULL_FAILED,
    Reason.CONTAINER_NOT_CREATED,
    Reason.CRASH_LOOP,
    Reason.UNSCHEDULABLE,
    Reason.PODS_NOT_READY,
)


class Cause(Struct, frozen=True):
    """What keeps pods away, found among the pods; verdict is None if nothing was found.

    state: `state_of` the Deployment for which it was found.
    """

    verdict: Verdict | None
    state: str


# ------------------------------------------------------------------ from the status of the Deployment


def from_deployment(deployment: Deployment) -> Verdict | None:
    """What the Deployment itself says; None if it does not say what keeps its pods away."""
    failure = deployment.status.condition("ReplicaFailure")
    if failure and failure.status == "True":
        return _rejected(failure)
    return _paused(deployment) if deployment.paused else None


def _rejected(failure: Condition) -> Verdict:
    """The API server rejected pods. The condition has only its words: no field says why.

    https://github.com/kubernetes/kubernetes: plugin/pkg/admission/resourcequota/controller.go ("exceeded quota: ",
    "failed quota: "), staging/src/k8s.io/pod-security-admission/admission/admission.go ("violates PodSecurity ").
    """
    said = failure.message.partition(" is forbidden: ")[2] or failure.message  # without the name of a pod
    for words, reason, way_out in _REJECTIONS:
        if words in said:
            return Verdict(reason, f"Pods cannot be created: {said}. {way_out}", stalled=False)
    return Verdict(Reason.FAILED_CREATE, f"Pods cannot be created ({failure.reason}): {failure.message}", stalled=False)


_REJECTIONS = (
    ("exceeded quota: ", Reason.QUOTA_EXCEEDED, "Raise the quota, or lower spec.size."),
    ("failed quota: ", Reason.QUOTA_EXCEEDED, "Add a LimitRange with defaults for it, or change the quota."),
    (
        'violates PodSecurity "',
        Reason.POD_SECURITY,
        "Change the pod template, or the label pod-security.kubernetes.io/enforce of the namespace.",
    ),
)


def _paused(deployment: Deployment) -> Verdict:
    """Somebody paused the rollout. https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pausing-and-resuming-a-deployment"""
    progress = deployment.status.condition("Progressing")
    said = progress.message if progress and progress.reason == "DeploymentPaused" else ""
    holder = next(iter(holders(deployment.managed_fields, ("spec", "paused"))), None)
    when = f", {holder.time}" if holder and holder.time else ""
    who = f" (spec.paused is set by {holder.manager}{when})" if holder else ""
    way_out = f"kubectl -n {deployment.key.namespace} rollout resume deployment/{deployment.key.name}"
    return Verdict(
        Reason.ROLLOUT_PAUSED,
        f"{said or 'Deployment is paused'}{who}. Kubernetes does not roll it out until: {way_out}",
        stalled=False,
    )


# ------------------------------------------------------------------ from the status of pods


def state_of(deployment: Deployment) -> str:
    """A hash of uid and generation, a dash, and a hash of everything that the status says, without times."""
    seen = deployment.status
    counts = (seen.replicas, seen.updated_replicas, seen.ready_replicas, seen.available_replicas)
    conditions = [(each.type, each.status, each.reason, each.message) for each in seen.all_conditions]
    return "-".join(
        digest(part)[:8]
        for part in (
            (deployment.uid, deployment.metadata.generation),
            (deployment.replicas, seen.observed_generation, counts, sorted(conditions)),
        )
    )


def recorded_cause(takara: Takara, deployment: Deployment) -> Cause | None:
    """The cause in the status of the Takara, if it was found for this generation of the Deployment."""
    ready, state = takara.condition("Ready"), takara.cause_for
    reason = ready.get("reason")
    if reason not in FROM_PODS or _generation(state) != _generation(state_of(deployment)):
        return None
    return Cause(Verdict(Reason(reason), ready.get("message", ""), stalled=False), state)


def _generation(state: str) -> str:
    return state.partition("-")[0]


def waited(takara: Takara, now: datetime) -> timedelta:
    """How long this Takara has not been Ready; 0 if that is not recorded."""
    ready = takara.condition("Ready")
    since = elapsed(ready.get("lastTransitionTime", ""), now) if ready.get("status") == "False" else timedelta()
    return timedelta() if since == timedelta.max else since


def is_worth_a_look(takara: Takara, deployment: Deployment, reason: Reason, now: datetime) -> bool:
    """Whether to read the pods: it has not been Ready for a while, and nothing is known about this state of it.

    reason: that of Ready, as far as it is known without the pods.
    """
    unknown = reason in (Reason.PROGRESSING, Reason.PROGRESS_DEADLINE_EXCEEDED)
    if not unknown and reason not in FROM_PODS:
        return False
    return waited(takara, now) >= GRACE and (unknown or takara.cause_for != state_of(deployment))


def from_pods(pods: Iterable[PodDetail], key: Key, now: datetime) -> Verdict | None:
    """What keeps the pods of a Deployment from being ready; None if they perhaps only need time."""
    own = sorted((each for each in pods if each.pod().belongs_to(key.name)), key=lambda each: each.metadata.name)
    found = [trouble for each in own for trouble in _troubles(each, now)]
    if not found:
        return None
    reason, message = min(found, key=lambda trouble: FROM_PODS.index(trouble[0]))  # the first pod by name
    return Verdict(reason, message, stalled=False)


def _troubles(pod: PodDetail, now: datetime) -> Iterator[tuple[Reason, str]]:
    name, status = pod.metadata.name, pod.status
    for initial, containers in ((True, status.init_container_statuses), (False, status.container_statuses)):
        for container in containers or ():
            if found := _trouble(container, pod, initial=initial):
                yield found
    for condition in status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            said = condition.message.rstrip(". ")
            yield Reason.UNSCHEDULABLE, f"Pod {name} cannot be scheduled ({condition.reason}): {said}. {_describe(pod)}"
    if _not_ready_for(pod, now) >= PATIENCE:
        waiting = [each.state.waiting.reason for each in status.container_statuses or () if each.state.waiting]
        why = f" ({waiting[0]})" if waiting else ""
        yield Reason.PODS_NOT_READY, f"Pod {name} has not been ready for a long time{why}. {_describe(pod)}"


def _not_ready_for(pod: PodDetail, now: datetime) -> timedelta:
    """How long; 0 if it is ready, or if its times are malformed."""
    ready = next((each for each in pod.status.conditions or () if each.type == "Ready"), None)
    if ready and ready.status == "True":
        return timedelta()
    since = elapsed(ready.last_transition_time or "" if ready else pod.metadata.creation_timestamp, now)
    return timedelta() if since == timedelta.max else since


def _trouble(container: ContainerStatus, pod: PodDetail, *, initial: bool) -> tuple[Reason, str] | None:
    """The reason and message for one container; None if it runs, or may run soon."""
    waiting, where = container.state.waiting, f"container {container.name} of pod {pod.metadata.name}"
    reason = waiting.reason if waiting else ""
    if waiting and reason in _PULLING:
        return Reason.IMAGE_PULL_FAILED, f"Image {container.image} cannot be pulled{_said(waiting)}. {_describe(pod)}"
    if waiting and reason in _CREATING:
        return Reason.CONTAINER_NOT_CREATED, f"The {where} cannot be created{_said(waiting)}. {_describe(pod)}"
    ended = container.state.terminated
    restarted = container.restart_count > 0 and not container.ready
    if reason in _CRASHING or restarted or (ended and (ended.exit_code or not initial)):
        logs = f"kubectl -n {pod.metadata.namespace} logs {pod.metadata.name} -c {container.name} --previous"
        how = _ended(ended or container.last_state.terminated)
        return Reason.CRASH_LOOP, f"The {where} ends again and again{how}. See: {logs}"
    return None


# The reasons of the kubelet: https://github.com/kubernetes/kubernetes, pkg/kubelet/images/types.go and
# pkg/kubelet/kuberuntime/kuberuntime_container.go.
_PULLING = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
        "SignatureValidationFailed",
    }
)
_CREATING = frozenset({"CreateContainerConfigError", "CreateContainerError"})
_CRASHING = frozenset({"CrashLoopBackOff", "RunContainerError", "PostStartHookError"})


def _said(waiting: Waiting) -> str:
    said = waiting.message.rstrip(". ")
    return f" ({waiting.reason}): {said}" if said else f" ({waiting.reason})"


def _describe(pod: PodDetail) -> str:
    return f"See: kubectl -n {pod.metadata.namespace} describe pod {pod.metadata.name}"


def _ended(terminated: Terminated | None) -> str:
    if terminated is None:
        return ""
    why = f", {terminated.reason}" if terminated.reason else ""
    return f" (exit code {terminated.exit_code}{why})"
