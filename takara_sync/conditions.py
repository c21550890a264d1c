"""The closed list of reasons, for the conditions of a Takara and for the report. Pure.

docs/conditions.md says what each reason means and what to do; a test compares both lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct


class Reason(StrEnum):
    """The reason of a condition, or of a line in the report."""

    # Ready
    READY = "Ready"
    PROGRESSING = "Progressing"
    PAUSED = "Paused"
    REPLICAS_CONTESTED = "ReplicasContested"
    DEPLOYMENT_DELETING = "DeploymentDeleting"
    PREDECESSOR = "DeploymentOfPredecessor"  # also Stalled, if it stays
    # Ready: what keeps pods away; also Stalled, if the Deployment makes no progress in time
    QUOTA_EXCEEDED = "QuotaExceeded"
    POD_SECURITY = "PodSecurityViolation"
    FAILED_CREATE = "FailedCreate"
    ROLLOUT_PAUSED = "RolloutPaused"
    IMAGE_PULL_FAILED = "ImagePullFailed"
    CONTAINER_NOT_CREATED = "ContainerNotCreated"
    CRASH_LOOP = "CrashLoop"
    UNSCHEDULABLE = "Unschedulable"
    PODS_NOT_READY = "PodsNotReady"
    # Stalled: the Takara's spec
    INVALID_SIZE = "InvalidSize"
    SIZE_TOO_LARGE = "SizeTooLarge"
    INVALID_TEMPLATE = "InvalidTemplate"
    TEMPLATES_NOT_ALLOWED = "TemplatesNotAllowed"
    INVALID_SPEC = "InvalidSpec"
    # Stalled: the Deployment of that name
    NO_CONTROLLER = "DeploymentWithoutController"
    OTHER_CONTROLLER = "DeploymentOfAnotherController"
    SELECTOR_DIFFERS = "DeploymentSelectorDiffers"
    NEWER_FORMAT = "NewerFormat"
    CHANGED_ON_ADMISSION = "ChangedOnAdmission"
    # Stalled: the server rejected a write, or the rollout does not progress
    APPLY_FAILED = "ApplyFailed"
    APPLY_REJECTED = "ApplyRejected"
    PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
    # only in a report
    UNREAD = "Unread"
    NOT_REACHED = "NotReached"
    TOO_MANY_CHANGES = "TooManyChanges"
    DELETING = "Deleting"
    STATUS_OVERWRITTEN = "StatusOverwritten"
    LEGACY_MANAGER_ACTIVE = "LegacyManagerActive"
    STATUS_REJECTED = "StatusRejected"
    CONFLICT = "Conflict"
    NOT_FOUND = "NotFound"
    UNAVAILABLE = "Unavailable"
    API_NOT_SERVED = "ApiNotServed"
    BUG = "Bug"


REPORT_ONLY = frozenset(list(Reason)[list(Reason).index(Reason.UNREAD) :])
"""The reasons that are never in a condition."""

INVALID = frozenset(
    {
        Reason.INVALID_SIZE,
        Reason.SIZE_TOO_LARGE,
        Reason.INVALID_SPEC,
        Reason.INVALID_TEMPLATE,
        Reason.TEMPLATES_NOT_ALLOWED,
    }
)
"""The Takara's spec cannot be used."""

NOT_OURS = frozenset({Reason.NO_CONTROLLER, Reason.OTHER_CONTROLLER, Reason.PREDECESSOR})
"""A Deployment of that name exists, and this Takara is not its controller."""

REJECTED = frozenset({Reason.APPLY_FAILED, Reason.APPLY_REJECTED})
"""The API server rejected the write."""


CAUSES: Mapping[Reason, str] = {
    Reason.QUOTA_EXCEEDED: "exceeded quota",
    Reason.POD_SECURITY: "violates PodSecurity",
    Reason.FAILED_CREATE: "pods cannot be created",
    Reason.ROLLOUT_PAUSED: "rollout paused",
    Reason.IMAGE_PULL_FAILED: "image cannot be pulled",
    Reason.CONTAINER_NOT_CREATED: "container cannot be created",
    Reason.CRASH_LOOP: "crash loop",
    Reason.UNSCHEDULABLE: "cannot be scheduled",
    Reason.PODS_NOT_READY: "pods are not ready",
    Reason.PROGRESS_DEADLINE_EXCEEDED: "no progress in time",
}
"""What keeps pods away, each with the words of a summary."""


class Verdict(Struct, frozen=True):
    """A reason and message for the conditions. `stalled`: whether a person has to act."""

    reason: Reason
    message: str
    stalled: bool = True
