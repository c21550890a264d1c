"""The requests of `takara-sync adopt`: what is there, and one owner reference after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import NamedTuple, TypeVar

import msgspec

from takara_sync.adoption import Declined, Offer, consider, is_restored, owners_without
from takara_sync.deadline import Deadline
from takara_sync.errors import Conflict, ObjectError, PassStopped, Retryable
from takara_sync.kube.cluster import KubeCluster
from takara_sync.objects import Deployment, Key, Takara
from takara_sync.plan import Policy
from takara_sync.snapshot import read
from takara_sync.sync import utcnow

TRIES = 5
"""The maximum number of tries of a write: the Deployment controller may write the status at any time."""
LAST_LOOK_SECONDS = 30.0
"""How long the look at the Takara after a write may take. Neither a signal nor the deadline cuts it short."""

T = TypeVar("T")


class Adopter(NamedTuple):
    """The cluster, and the policy of the next pass. workers: the number of concurrent requests."""

    cluster: KubeCluster
    policy: Policy
    deadline: Deadline
    workers: int
    now: Callable[[], datetime] = utcnow

    # -------------------------------------------------------------- what is there

    def named(self, keys: Iterable[Key]) -> list[Offer | Declined]:
        """What adopting each of these means. Raises PassStopped."""
        return self._each(self._look, keys)

    def restored(self) -> list[Offer | Declined]:
        """What adopting each restored Deployment means. Raises PassStopped, also if a list is not complete."""
        snapshot = read(self.cluster, self.policy, self.deadline, self.workers)
        found: list[Offer | Declined] = [Declined(key, "failed", why) for key, why in snapshot.unread.items()]
        for takara in snapshot.takaras:
            deployment = snapshot.deployments.get(takara.key)
            if takara.key not in snapshot.unread and deployment is not None and is_restored(takara, deployment):
                found.append(consider(takara.key, takara, deployment, self.policy, self.now()))
        return sorted(found, key=lambda each: each.key)

    def _look(self, key: Key) -> Offer | Declined:
        try:
            deployment = self.cluster.deployment(key, self.deadline)
            takara = self.cluster.takara(key, self.deadline)  # last, so that the spec is newer
            return consider(key, takara, deployment, self.policy, self.now())
        except (ObjectError, msgspec.MsgspecError, RecursionError) as error:
            return Declined(key, "failed", str(error))

    # -------------------------------------------------------------- the writes

    def adopt(self, shown: Iterable[Offer]) -> list[Offer | Declined]:
        """Adopt each Deployment as it was shown: the same again, or why it failed."""
        return self._each(self._adopt, shown)

    def _adopt(self, shown: Offer) -> Offer | Declined:
        """Raises nothing: what was adopted before an error must be in the output too."""
        try:
            return self._try(shown)
        except PassStopped as error:
            return Declined(shown.key, "failed", f"{error.message}. {_AGAIN}")
        except (ObjectError, msgspec.MsgspecError, RecursionError) as error:
            return Declined(shown.key, "failed", str(error))

    def _try(self, shown: Offer) -> Offer | Declined:
        """Write the owner reference, at most five times, and look at the Takara before and after.

        The uid of a Takara that does not exist would make garbage collection delete the Deployment.
        https://kubernetes.io/docs/concepts/architecture/garbage-collection/#owners-dependents
        """
        offer, error = shown, ObjectError("It was not tried")
        for _ in range(TRIES):
            self.deadline.check()
            takara = self.cluster.takara(shown.key, self.deadline)
            if not _is_same(takara, shown):
                return Declined(shown.key, "failed", f"The Takara was replaced or deleted since it was shown. {_AGAIN}")
            try:
                self.cluster.set_owners(offer.deployment, offer.owners, self.deadline)
                return self._look_again(shown)
            except (Conflict, Retryable) as refused:  # perhaps executed, if no response came
                error = refused
            live = self.cluster.deployment(shown.key, self.deadline)
            again = consider(shown.key, takara, live, self.policy, self.now())
            if isinstance(again, Declined) and again.action == "keep":
                return self._look_again(shown)
            if isinstance(again, Declined) or not _is_as_shown(again.deployment, shown.deployment):
                return Declined(shown.key, "failed", f"The Deployment changed since it was shown. {_AGAIN}")
            offer = again
            self.deadline.wait(error.retry_after if isinstance(error, Retryable) else 0.0)
        raise error

    def _look_again(self, shown: Offer) -> Offer | Declined:
        """Remove the reference again if its Takara is gone."""
        deadline = Deadline(LAST_LOOK_SECONDS)
        try:
            if _is_same(self.cluster.takara(shown.key, deadline), shown):
                return shown
            return Declined(shown.key, "failed", self._undo(shown, deadline))
        except (ObjectError, PassStopped) as error:
            what = "The owner reference was written, but then it could not be checked whether its Takara still exists"
            return Declined(shown.key, "failed", f"{what}: {error} {_AGAIN}")

    def _undo(self, shown: Offer, deadline: Deadline) -> str:
        """Remove the reference to the uid of this Takara; what happened, for a person."""
        gone, error = "Meanwhile the Takara was replaced or deleted", ObjectError("It was not tried")
        for _ in range(TRIES):
            live = self.cluster.deployment(shown.key, deadline)
            if live is None or live.uid != shown.deployment.uid or live.deleting:
                return f"{gone}, and Kubernetes deleted the Deployment. The next pass creates one for the new Takara."
            owners = owners_without(live, shown.takara.uid)
            if owners == live.owners:
                return f"{gone}, and so was the owner reference. {_AGAIN}"
            try:
                self.cluster.set_owners(live, owners, deadline)
            except (Conflict, Retryable) as refused:
                error = refused
            else:
                return f"{gone}, so the owner reference was removed again. {_AGAIN}"
        raise error

    def _each(self, function: Callable[[T], Offer | Declined], items: Iterable[T]) -> list[Offer | Declined]:
        with ThreadPoolExecutor(self.workers, "takara-sync") as pool:
            return list(pool.map(function, items))


_AGAIN = "Run the command again."


def _is_same(takara: Takara | None, shown: Offer) -> bool:
    """Whether this is the Takara that was shown, and stays."""
    return takara is not None and takara.uid == shown.takara.uid and not takara.deleting


def _is_as_shown(live: Deployment, shown: Deployment) -> bool:
    """Whether it is the same Deployment, and nobody changed its spec or its owners."""
    return (live.uid, live.owners, live.as_manifest()["spec"]) == (shown.uid, shown.owners, shown.as_manifest()["spec"])
