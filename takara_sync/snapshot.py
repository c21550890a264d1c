"""Everything the decisions rest on, read before anything is written."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from takara_sync.claims import controlled_by
from takara_sync.cluster import Cluster
from takara_sync.errors import ObjectError
from takara_sync.objects import NAME, Deployment, Key, Snapshot, Takara
from takara_sync.plan import Policy, must_look_up


def read(cluster: Cluster, policy: Policy, pool: ThreadPoolExecutor, *, certain: bool = False) -> Snapshot:
    """Everything the decisions rest on; `certain`: every Deployment that is not in the list is looked up by name.

    Raises:
        PassStopped: any list of it cannot be had.
    """
    deployments = cluster.deployments()
    takaras = cluster.takaras()  # last: the freshest desire
    known = {deployment.key: deployment for deployment in deployments.items}
    unread = {key: f"Deployment {key} could not be read: {why}" for key, why in deployments.unread.items()}
    certain = certain or not all(NAME.fullmatch(key.name) for key in unread)  # it may be anybody's that has no name
    missing = [takara for takara in takaras.items if takara.key not in known and takara.key not in unread]
    unlisted = [takara for takara in missing if must_look_up(takara, policy, certain=certain)]
    fresh: dict[Key, Takara] = {}
    for takara, found in pool.map(lambda takara: _look_up(cluster, policy, takara), unlisted):
        fresh[takara.key] = takara
        if isinstance(found, Deployment):
            known[takara.key] = found
        elif isinstance(found, str):
            unread[takara.key] = found
    wanted = {takara.key for takara in takaras.items}
    concerned = {key: why for key, why in unread.items() if key in wanted}
    items = tuple(fresh.get(takara.key, takara) for takara in takaras.items)
    return Snapshot(items, known, concerned | dict(takaras.unread))


def _look_up(cluster: Cluster, policy: Policy, takara: Takara) -> tuple[Takara, Deployment | str | None]:
    """One Deployment by name, or why it could not be had: a failure costs this Takara only, and is no absence.

    Where there is something to apply, the Takara is read once more behind it: its desire has to be the fresher one.
    """
    try:
        cluster.deadline.check()
        found = cluster.deployment(takara.key)
        if found is not None and controlled_by(found, takara) and not _is_left_alone(takara, policy):
            again = cluster.takara(takara.key)
            takara = again if again is not None and again.uid == takara.uid else takara
    except ObjectError as error:
        return takara, f"Deployment {takara.key} could not be read: {error}"
    return takara, found


def _is_left_alone(takara: Takara, policy: Policy) -> bool:
    return takara.paused or policy.problem_of(takara) is not None
