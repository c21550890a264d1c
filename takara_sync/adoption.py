"""Whether a Takara can become the controller of a Deployment that exists already, and what follows. Pure.

A pass never adopts a Deployment. A person does, with `takara-sync adopt`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct, structs

from takara_sync.desired import owner_reference, selector_labels, selector_text
from takara_sync.objects import Deployment, Key, OwnerReference, Takara
from takara_sync.ownership import controlled_by
from takara_sync.plan import Decision, Policy, decide


class Offer(Struct, frozen=True):
    """An adoption that is possible.

    owners: the owner references of the Deployment after it. next: what the next pass decides then. warnings: what a
    person should know before.
    """

    takara: Takara
    deployment: Deployment
    owners: tuple[OwnerReference, ...]
    next: Decision
    warnings: tuple[str, ...]

    @property
    def key(self) -> Key:
        return self.takara.key


class Declined(Struct, frozen=True):
    """No adoption, and why. keep: the Takara is the controller already. failed: a request failed."""

    key: Key
    action: Literal["keep", "refused", "failed"]
    why: str


def consider(
    key: Key, takara: Takara | None, deployment: Deployment | None, policy: Policy, now: datetime
) -> Offer | Declined:
    """What adopting means, for a Takara and a Deployment as they were read. None: there is none of this name.

    Raises:
        msgspec.MsgspecError, RecursionError: an object is malformed.
    """
    if takara is None:
        return Declined(key, "refused", "There is no Takara of this name. Create it first.")
    if deployment is None:
        return Declined(key, "refused", "There is no Deployment of this name. The next pass creates one.")
    if controlled_by(deployment, takara):
        return Declined(key, "keep", "The Takara is its controller already.")
    if why := _refusal(takara, deployment):
        return Declined(key, "refused", why)
    controller = msgspec.convert(owner_reference(takara, None), OwnerReference)
    owners = (*owners_without(deployment, takara.uid), controller)
    metadata = structs.replace(deployment.metadata, owner_references=Raw(msgspec.json.encode(owners)))
    adopted = structs.replace(deployment, metadata=metadata)
    return Offer(takara, deployment, owners, decide(takara, adopted, policy, now), _warnings(deployment))


def _refusal(takara: Takara, deployment: Deployment) -> str:
    """Why this Takara cannot adopt this Deployment; empty if it can."""
    if takara.deleting:
        return "The Takara is being deleted. Kubernetes would delete the Deployment with it."
    if deployment.deleting:
        return "The Deployment is being deleted. The next pass after that creates a new one."
    if (owner := deployment.controller) is not None:
        return f"Its controller is {owner.kind} {owner.name} (uid {owner.uid}), and a Deployment has only one."
    if not _selects_the_same(takara, deployment):
        wanted = selector_text(takara.metadata.name)
        return (
            f"Its selector is not {wanted}, and a selector cannot be changed. Delete the Deployment, so that the next "
            "pass creates one, or give the Takara another name."
        )
    return ""


def is_restored(takara: Takara, deployment: Deployment) -> bool:
    """Whether a backup tool may have brought both back: all fits, and only the controller is missing.

    The label takara_cr says that takara-sync once applied this Deployment.
    """
    label = selector_labels(takara.metadata.name)["takara_cr"]
    labels = deployment.as_manifest()["metadata"]["labels"] or {}
    return labels.get("takara_cr") == label and not _refusal(takara, deployment)


def _selects_the_same(takara: Takara, deployment: Deployment) -> bool:
    selector: dict[str, Any] = deployment.as_manifest()["spec"].get("selector") or {}
    same_labels = selector.get("matchLabels") == selector_labels(takara.metadata.name)
    return same_labels and not selector.get("matchExpressions")


def owners_without(deployment: Deployment, uid: str) -> tuple[OwnerReference, ...]:
    """The owner references of the Deployment, without the owner with this uid."""
    return tuple(owner for owner in deployment.owners if owner.uid != uid)


# ------------------------------------------------------------------ who else may manage it

_MARKS = (
    ("labels", "app.kubernetes.io/managed-by", "Helm", "Helm"),
    ("annotations", "meta.helm.sh/release-name", "", "Helm"),
    ("annotations", "argocd.argoproj.io/tracking-id", "", "Argo CD"),
    ("labels", "argocd.argoproj.io/instance", "", "Argo CD"),
    ("labels", "app.kubernetes.io/instance", "", "Argo CD or Helm"),
    ("labels", "kustomize.toolkit.fluxcd.io/name", "", "Flux"),
    ("labels", "helm.toolkit.fluxcd.io/name", "", "Flux"),
)
"""Where each tool writes that it manages an object: a label or annotation, its value (any if empty), and the tool.

https://helm.sh/docs/chart_best_practices/labels/
https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/
https://fluxcd.io/flux/components/kustomize/kustomizations/
"""


def _warnings(deployment: Deployment) -> tuple[str, ...]:
    """A warning for each mark of another tool that would also write the Deployment, or delete it."""
    metadata = deployment.as_manifest()["metadata"]
    found = ((part, mark, wanted, (metadata[part] or {}).get(mark), tool) for part, mark, wanted, tool in _MARKS)
    return tuple(
        f"{tool} may manage this Deployment ({part.removesuffix('s')} {mark}={value}). Take it out of {tool} first, in "
        f"a way that keeps it in the cluster; else both write it, or {tool} deletes it."
        for part, mark, wanted, value, tool in found
        if value and value == (wanted or value)
    )
