"""The reads of a pass: all objects for the decisions, before the first write."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import msgspec

from takara_sync.cluster import Cluster
from takara_sync.deadline import Deadline
from takara_sync.errors import ObjectError
from takara_sync.objects import NAME, Deployment, Snapshot, Takara
from takara_sync.ownership import controlled_by
from takara_sync.plan import Policy, must_look_up
from takara_sync.progress import Progress


def read(
    cluster: Cluster,
    policy: Policy,
    deadline: Deadline,
    workers: int,
    *,
    certain: bool = False,
    progress: Progress | None = None,
) -> Snapshot:
    """Read the lists, and by name Deployments that may be missing there. certain: read every missing one by name.

    Raises:
        PassStopped: a list failed.
    """
    deployments = cluster.deployments(deadline)
    takaras = cluster.takaras(deadline)  # last, so that the spec is newer
    known = {deployment.key: deployment for deployment in deployments.items}
    unread = {key: f"Deployment {key} could not be read: {why}" for key, why in deployments.unread.items()}
    certain = certain or not all(NAME.fullmatch(key.name) for key in unread)  # without a name: any Takara's
    missing = [takara for takara in takaras.items if takara.key not in known and takara.key not in unread]
    items = {takara.key: takara for takara in takaras.items}
    if unlisted := [takara for takara in missing if must_look_up(takara, policy, certain=certain)]:
        with ThreadPoolExecutor(workers, "takara-sync") as pool:
            found = pool.map(lambda takara: _look_up(cluster, policy, takara, deadline), unlisted)
            for number, (takara, deployment) in enumerate(found, 1):
                if progress is not None:
                    progress("reading Deployments by name", number, len(unlisted))
                items[takara.key] = takara
                if isinstance(deployment, Deployment):
                    known[takara.key] = deployment
                elif deployment is not None:
                    unread[takara.key] = deployment
    concerned = {key: why for key, why in unread.items() if key in items}
    return Snapshot(tuple(items.values()), known, concerned | dict(takaras.unread))


def _look_up(
    cluster: Cluster, policy: Policy, takara: Takara, deadline: Deadline
) -> tuple[Takara, Deployment | str | None]:
    """One Deployment by name, or why it could not be read. A failure affects only this Takara, and is not "not found".

    If the Deployment may be applied, re-read the Takara afterwards: an older size must not replace a size that another
    pass applied between the two reads.
    """
    try:
        found = cluster.deployment(takara.key, deadline)
        if found is not None and controlled_by(found, takara) and not takara.paused and not policy.problem_of(takara):
            fresh = cluster.takara(takara.key, deadline)
            takara = fresh if fresh is not None and fresh.uid == takara.uid else takara
    except (ObjectError, msgspec.MsgspecError) as error:
        return takara, f"Deployment {takara.key} could not be read: {error}"
    return takara, found
