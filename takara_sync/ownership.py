"""Whether a Deployment belongs to a Takara. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from takara_sync.backoff import elapsed
from takara_sync.conditions import Reason, Verdict
from takara_sync.objects import API_VERSION, GROUP, KIND, Deployment, OwnerReference, Takara

GARBAGE_COLLECTION = timedelta(minutes=5)
"""How long a Takara waits until the Deployment of its predecessor is garbage-collected."""


def controlled_by(deployment: Deployment, takara: Takara) -> bool:
    """Whether the controller is this Takara (same uid), not a deleted Takara of the same name."""
    owner = deployment.controller
    return owner is not None and _is_takara(owner) and (owner.name, owner.uid) == (takara.metadata.name, takara.uid)


def _is_takara(owner: OwnerReference) -> bool:
    """Whether the owner is a Takara of any API version. An `apiVersion` without a slash is of the core group."""
    return (owner.api_version.rpartition("/")[0], owner.kind) == (GROUP, KIND)


def not_ours(takara: Takara, deployment: Deployment, now: datetime, *, adoptable: bool) -> Verdict:
    """The verdict for a Deployment that this Takara does not control. adoptable: whether it has the right selector."""
    owner = deployment.controller
    if owner is None:
        left_alone = f"Deployment {takara.key} has no controller and is left alone."
        return Verdict(Reason.NO_CONTROLLER, f"{left_alone} {_adopt(takara) if adoptable else _NEVER}")
    if _is_takara(owner) and owner.name == takara.metadata.name:
        return _predecessor(takara, owner, now)
    return Verdict(
        Reason.OTHER_CONTROLLER,
        f"Deployment {takara.key} is controlled by {owner.kind} {owner.name} and is left alone. "
        "Rename the Takara, or remove the Deployment where that owner declares it.",
    )


def _adopt(takara: Takara) -> str:
    where = f"-n {takara.metadata.namespace}"
    return (
        f"To make this Takara its controller: takara-sync adopt {takara.metadata.name} {where}. Its pods may then be "
        "replaced, and deleting the Takara deletes it. Else rename the Takara, or delete the Deployment."
    )


_NEVER = (
    "It can never be adopted: its selector is not that of a Takara's Deployment, and a selector never changes. Rename "
    "the Takara, or delete the Deployment if nobody needs it."
)


def _predecessor(takara: Takara, owner: OwnerReference, now: datetime) -> Verdict:
    """Garbage collection removes a Deployment without its owner, if the API version of the owner is served.

    https://kubernetes.io/docs/concepts/architecture/garbage-collection/#owners-dependents
    """
    ready = takara.condition("Ready")
    waited = elapsed(ready.get("lastTransitionTime", ""), now) if ready.get("reason") == Reason.PREDECESSOR else None
    stays = owner.api_version != API_VERSION or (waited is not None and waited > GARBAGE_COLLECTION)
    what_follows = "Delete it." if stays else "Garbage collection removes it, and a new one is created then."
    return Verdict(
        Reason.PREDECESSOR,
        f"Deployment {takara.key} belongs to a deleted Takara of this name (uid {owner.uid}). {what_follows}",
        stalled=stays,
    )
